import com.google.flatbuffers.FlatBufferBuilder;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import nearbid.openrtb.pb.BidRequest;
import nearbid.v1.BidderGrpc;

/**
 * What a short client does not show: grpc-java's deadlines, cancellation, big messages, metadata and
 * authorities against a running bidder, which is well after each. clients.rs puts this file beside
 * clients/java's Bid.java and runs it with the bidder's address and process id.
 */
public class Hard {
    /** Longer than anything here takes on a busy machine. */
    static final long PATIENCE_MS = 60_000;

    static final String BIG = "x".repeat(200 << 10);

    static String address;
    static String pid;

    public static void main(String[] args) throws Exception {
        address = args[0];
        pid = args[1];
        ManagedChannel channel = builder().build();
        manyAtOnce(channel);
        System.out.println("many at once: well");
        bigMessages(channel);
        System.out.println("big messages: well");
        metadata(channel);
        System.out.println("metadata: well");
        deadlines(channel);
        System.out.println("deadlines: well");
        cancellation(channel);
        System.out.println("cancellation: well");
        channel.shutdownNow().awaitTermination(PATIENCE_MS, TimeUnit.MILLISECONDS);
        authorities();
        System.out.println("authorities: well");
    }

    static ManagedChannelBuilder<?> builder() {
        return Grpc.newChannelBuilder(address, InsecureChannelCredentials.create());
    }

    static void wantBid(Channel channel, String id, String customdata, long timeoutMs) {
        var request = BidRequest.newBuilder().setId(id);
        request.addImpBuilder().setId("1").getBannerBuilder().setW(300).setH(250);
        request.getDeviceBuilder().setDevicetype(4).getGeoBuilder().setCountry("USA");
        request.getUserBuilder().setCustomdata(customdata);
        var answer = BidderGrpc.newBlockingStub(channel)
                .withDeadlineAfter(timeoutMs, TimeUnit.MILLISECONDS)
                .bid(request.build());
        if (!answer.getId().equals(id) || answer.getSeatbidCount() != 1) {
            throw new AssertionError("no bid but " + answer);
        }
    }

    static void wantBid(Channel channel, String id) {
        wantBid(channel, id, "", PATIENCE_MS);
    }

    static boolean ends(Status.Code code, Runnable call) {
        try {
            call.run();
        } catch (StatusRuntimeException error) {
            if (error.getStatus().getCode() != code) {
                throw error;
            }
            return true;
        }
        return false;
    }

    static void wantCode(Status.Code code, Runnable call) {
        if (!ends(code, call)) {
            throw new AssertionError("OK, not " + code);
        }
    }

    /** Runs a task on threads of its own, so often at once. */
    static void atOnce(int times, Callable<Void> task) throws Exception {
        var pool = Executors.newFixedThreadPool(times);
        List<Future<Void>> running = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            running.add(pool.submit(task));
        }
        for (Future<Void> one : running) {
            one.get();
        }
        pool.shutdown();
    }

    static void manyAtOnce(Channel channel) throws Exception {
        atOnce(50, () -> {
            for (int call = 0; call < 40; call++) {
                wantBid(channel, Thread.currentThread().getName() + "-" + call);
            }
            return null;
        });
    }

    static void bigMessages(Channel channel) throws Exception {
        atOnce(8, () -> {
            wantBid(channel, "big", BIG, PATIENCE_MS);
            return null;
        });
        var request = new FlatBufferBuilder(256 << 10);
        request.createString(BIG);
        byte[] bytes = Bid.build(request, "USA");
        if (bytes.length < BIG.length() || flatBuffers(channel, bytes, "flatbuffers").length < 300) {
            throw new AssertionError("no bid");
        }
        wantCode(Status.Code.RESOURCE_EXHAUSTED, () -> wantBid(channel, "too big", BIG + BIG, PATIENCE_MS));
        wantBid(channel, "after", "", PATIENCE_MS);
    }

    static byte[] flatBuffers(Channel channel, byte[] request, String format) {
        var metadata = new Metadata();
        metadata.put(Metadata.Key.of("nearbid-format", Metadata.ASCII_STRING_MARSHALLER), format);
        var options = CallOptions.DEFAULT.withDeadlineAfter(PATIENCE_MS, TimeUnit.MILLISECONDS);
        return ClientCalls.blockingUnaryCall(with(channel, metadata), Bid.BID, options, request);
    }

    static Channel with(Channel channel, Metadata metadata) {
        var attach = MetadataUtils.newAttachHeadersInterceptor(metadata);
        return ClientInterceptors.intercept(channel, attach);
    }

    static void metadata(Channel channel) {
        var odd = new Metadata();
        odd.put(Metadata.Key.of("exchange", Metadata.ASCII_STRING_MARSHALLER), "a b, c");
        odd.put(Metadata.Key.of("trace-bin", Metadata.BINARY_BYTE_MARSHALLER), new byte[] {0, -1});
        odd.put(Metadata.Key.of("long", Metadata.ASCII_STRING_MARSHALLER), "y".repeat(4096));
        wantBid(with(channel, odd), "odd");
        byte[] request = Bid.build(new FlatBufferBuilder(1024), "USA");
        wantCode(Status.Code.INVALID_ARGUMENT, () -> flatBuffers(channel, request, "avro"));
    }

    static void signal(String signal) throws Exception {
        if (new ProcessBuilder("kill", signal, pid).inheritIO().start().waitFor() != 0) {
            throw new AssertionError("kill " + signal + " " + pid);
        }
    }

    /** A bidder that has no CPU for longer than its exchange waits finds calls that are cancelled. */
    static void deadlines(Channel channel) throws Exception {
        signal("-STOP");
        try {
            while (!ends(Status.Code.DEADLINE_EXCEEDED, () -> wantBid(channel, "late", "", 200))) {
                // The signal takes a moment.
            }
            atOnce(10, () -> {
                wantCode(Status.Code.DEADLINE_EXCEEDED, () -> wantBid(channel, "late", "", 200));
                return null;
            });
        } finally {
            signal("-CONT");
        }
        wantBid(channel, "after");
    }

    static void cancellation(Channel channel) throws Exception {
        var method = MethodDescriptor.<byte[], byte[]>newBuilder()
                .setType(MethodDescriptor.MethodType.SERVER_STREAMING)
                .setFullMethodName("grpc.health.v1.Health/Watch")
                .setRequestMarshaller(new Bid.Bytes())
                .setResponseMarshaller(new Bid.Bytes())
                .build();
        var context = Context.current().withCancellation();
        wantCode(Status.Code.CANCELLED, () -> context.run(() -> {
            var watch = ClientCalls.blockingServerStreamingCall(
                    channel, method, CallOptions.DEFAULT, new byte[0]);
            if (watch.next()[1] != 1) {
                throw new AssertionError("not serving");
            }
            context.cancel(null);
            watch.next();
        }));
        wantBid(channel, "after");
    }

    /** Libraries differ in what they call a server that has a path and no name. */
    static void authorities() throws Exception {
        for (String authority : List.of("localhost", "run%2Fbid.sock", "bidder:9090")) {
            ManagedChannel channel = builder().overrideAuthority(authority).build();
            wantBid(channel, authority);
            channel.shutdownNow().awaitTermination(PATIENCE_MS, TimeUnit.MILLISECONDS);
        }
    }
}

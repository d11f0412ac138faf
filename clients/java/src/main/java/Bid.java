import com.google.flatbuffers.FlatBufferBuilder;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import nearbid.openrtb.Banner;
import nearbid.openrtb.BidRequest;
import nearbid.openrtb.BidResponse;
import nearbid.openrtb.Device;
import nearbid.openrtb.Geo;
import nearbid.openrtb.Imp;
import nearbid.v1.BidderGrpc;

/** The shortest exchange in Java: one bid request, as protobuf and as FlatBuffers. */
public class Bid {
    /** The first call also connects. An exchange gives each what is left of its auction. */
    static final long TIMEOUT_S = 5;

    public static void main(String[] args) {
        if (args.length < 1) {
            System.err.println("usage: Bid ADDRESS [COUNTRY]");
            System.err.println("ADDRESS is unix:///run/nearbid/bid.sock, or host:port");
            System.exit(2);
        }
        String country = args.length > 1 ? args[1] : "USA";
        // Keep the channel: it connects once and serves all threads.
        ManagedChannel channel =
                Grpc.newChannelBuilder(args[0], InsecureChannelCredentials.create()).build();
        bidProtobuf(channel, country);
        bidFlatBuffers(channel, country);
        channel.shutdownNow();
    }

    static void bidProtobuf(Channel channel, String country) {
        // Both formats have classes of the same names; a program with one of them can import its own.
        var request = nearbid.openrtb.pb.BidRequest.newBuilder().setId("request-1");
        request.addImpBuilder().setId("1").getBannerBuilder().setW(300).setH(250);
        request.getDeviceBuilder().setDevicetype(4).getGeoBuilder().setCountry(country);
        var answer = BidderGrpc.newBlockingStub(channel)
                .withDeadlineAfter(TIMEOUT_S, TimeUnit.SECONDS)
                .bid(request.build());
        if (answer.getSeatbidCount() == 0) {
            System.out.println("protobuf: no bid, nbr " + answer.getNbr());
            return;
        }
        var bid = answer.getSeatbid(0).getBid(0);
        System.out.println(
                "protobuf: bid " + bid.getPrice() + " " + answer.getCur() + ", id " + bid.getId());
    }

    /** A call that takes and gives bytes. */
    static final MethodDescriptor<byte[], byte[]> BID = MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName(BidderGrpc.getBidMethod().getFullMethodName())
            .setRequestMarshaller(new Bytes())
            .setResponseMarshaller(new Bytes())
            .build();

    static void bidFlatBuffers(Channel channel, String country) {
        // grpc-java sets no content-subtype; the metadata says what the bytes are.
        var metadata = new Metadata();
        metadata.put(Metadata.Key.of("nearbid-format", Metadata.ASCII_STRING_MARSHALLER), "flatbuffers");
        channel = ClientInterceptors.intercept(
                channel, MetadataUtils.newAttachHeadersInterceptor(metadata));
        var options = CallOptions.DEFAULT.withDeadlineAfter(TIMEOUT_S, TimeUnit.SECONDS);
        var request = new FlatBufferBuilder(1024); // clear() makes it ready for the next request.
        byte[] reply = ClientCalls.blockingUnaryCall(channel, BID, options, build(request, country));
        var answer = BidResponse.getRootAsBidResponse(ByteBuffer.wrap(reply));
        if (answer.seatbidLength() == 0) {
            System.out.println("flatbuffers: no bid, nbr " + answer.nbr());
            return;
        }
        var bid = answer.seatbid(0).bid(0);
        System.out.println("flatbuffers: bid " + bid.price() + " " + answer.cur() + ", id " + bid.id());
    }

    /** Builds a request from the inside out: what a table refers to stands before it. */
    static byte[] build(FlatBufferBuilder b, String country) {
        int requestId = b.createString("request-1");
        int impId = b.createString("1");
        int code = b.createString(country);

        Banner.startBanner(b);
        Banner.addW(b, 300);
        Banner.addH(b, 250);
        int banner = Banner.endBanner(b);

        Imp.startImp(b);
        Imp.addId(b, impId);
        Imp.addBanner(b, banner);
        int imps = BidRequest.createImpVector(b, new int[] {Imp.endImp(b)});

        Geo.startGeo(b);
        Geo.addCountry(b, code);
        int geo = Geo.endGeo(b);

        Device.startDevice(b);
        Device.addDevicetype(b, 4);
        Device.addGeo(b, geo);
        int device = Device.endDevice(b);

        BidRequest.startBidRequest(b);
        BidRequest.addId(b, requestId);
        BidRequest.addImp(b, imps);
        BidRequest.addDevice(b, device);
        b.finish(BidRequest.endBidRequest(b));
        return b.sizedByteArray();
    }

    static class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        public InputStream stream(byte[] message) {
            return new ByteArrayInputStream(message);
        }

        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }
    }
}

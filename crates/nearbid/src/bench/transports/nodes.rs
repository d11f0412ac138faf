//! Two nodes and three pods, as network namespaces: each node has a bridge that its pods are on, and
//! the nodes are joined by VXLAN as flannel joins them (UDP 8472, MTU 1450, static routes and
//! neighbours). All links are made inside, so that they go with the namespaces.

use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

/// What a pod can send at once over VXLAN: Ethernet's 1500 bytes less 50.
const MTU: &str = "1450";
const NAMES: [&str; 5] = ["node1", "node2", "exchange", "bidder", "remote"];

/// The pod of the exchange, on node 1.
pub const EXCHANGE: &str = "exchange";
/// A pod of node 1.
pub const NEAR: Pod = Pod {
    name: "bidder",
    address: "10.244.1.3",
};
/// A pod of node 2.
pub const FAR: Pod = Pod {
    name: "remote",
    address: "10.244.2.2",
};

/// A pod.
#[derive(Clone, Copy, Debug)]
pub struct Pod {
    /// Of its namespace, without the run's part.
    pub name: &'static str,
    /// IPv4.
    pub address: &'static str,
}

/// The namespaces; gone when dropped.
#[derive(Debug)]
pub struct Nodes(());

impl Nodes {
    /// Makes them, and removes those that runs left which were killed.
    ///
    /// # Errors
    /// There is no `ip`, or it may not.
    pub fn new() -> anyhow::Result<Nodes> {
        remove_left_overs()?;
        let nodes = Nodes(());
        for name in NAMES {
            ip(&["netns", "add", &namespace(name)])?;
            ip_in(name, "link set lo up")?;
        }
        wire("node1", "under", "node2", "under")?;
        for (node, near, far) in [("node1", "1", "2"), ("node2", "2", "1")] {
            node_up(node, near)?;
            overlay(node, near, far)?;
        }
        for (node, pod, address) in [
            ("node1", EXCHANGE, "10.244.1.2"),
            ("node1", NEAR.name, NEAR.address),
            ("node2", FAR.name, FAR.address),
        ] {
            pod_up(node, pod, address)?;
        }
        Ok(nodes)
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        for name in NAMES {
            let _ = ip(&["netns", "del", &namespace(name)]);
        }
    }
}

/// The full name of this run's namespace.
pub fn namespace(name: &str) -> String {
    format!("nearbid-{}-{name}", std::process::id())
}

/// A pair of ends, each in its namespace.
fn wire(here: &str, end: &str, there: &str, other: &str) -> anyhow::Result<()> {
    let there = namespace(there);
    ip_in(
        here,
        &format!("link add {end} type veth peer name {other} netns {there}"),
    )
}

fn node_up(node: &str, number: &str) -> anyhow::Result<()> {
    for command in [
        format!("addr add 172.31.0.{number}/24 dev under"),
        "link set under up".to_owned(),
        format!("link add cni0 mtu {MTU} type bridge"),
        format!("addr add 10.244.{number}.1/24 dev cni0"),
        "link set cni0 up".to_owned(),
    ] {
        ip_in(node, &command)?;
    }
    let forward = "echo 1 > /proc/sys/net/ipv4/ip_forward";
    ip(&["netns", "exec", &namespace(node), "sh", "-c", forward])
}

/// The VXLAN device of a node, and what it has to know of the other.
fn overlay(node: &str, near: &str, far: &str) -> anyhow::Result<()> {
    let (mac, far_mac) = (
        format!("02:00:00:00:00:0{near}"),
        format!("02:00:00:00:00:0{far}"),
    );
    let vxlan = "type vxlan id 1 dstport 8472 nolearning dev under";
    for command in [
        format!("link add flannel.1 address {mac} mtu {MTU} {vxlan} local 172.31.0.{near}"),
        format!("addr add 10.244.{near}.0/32 dev flannel.1"),
        "link set flannel.1 up".to_owned(),
        format!("neigh add 10.244.{far}.0 lladdr {far_mac} dev flannel.1 nud permanent"),
        format!("route add 10.244.{far}.0/24 via 10.244.{far}.0 dev flannel.1 onlink"),
    ] {
        ip_in(node, &command)?;
    }
    let (node, there) = (namespace(node), format!("172.31.0.{far}"));
    run(
        "bridge",
        &[
            "-n",
            &node,
            "fdb",
            "append",
            &far_mac,
            "dev",
            "flannel.1",
            "dst",
            &there,
        ],
    )
}

fn pod_up(node: &str, pod: &str, address: &str) -> anyhow::Result<()> {
    wire(node, pod, pod, "eth0")?;
    ip_in(node, &format!("link set {pod} mtu {MTU} master cni0 up"))?;
    let (subnet, _) = address.rsplit_once('.').context("an address")?;
    for command in [
        format!("addr add {address}/24 dev eth0"),
        format!("link set eth0 mtu {MTU} up"),
        format!("route add default via {subnet}.1"),
    ] {
        ip_in(pod, &command)?;
    }
    Ok(())
}

/// Removes the namespaces of runs that are no more.
fn remove_left_overs() -> anyhow::Result<()> {
    let listed = Command::new("ip")
        .args(["netns", "list"])
        .output()
        .context("cannot run `ip`: install iproute2")?;
    let listed = String::from_utf8_lossy(&listed.stdout);
    let runs = |pid: u32| std::path::Path::new(&format!("/proc/{pid}")).exists();
    for name in left_overs(&listed, runs) {
        ip(&["netns", "del", name])?;
    }
    Ok(())
}

/// Those of `ip netns list` that a run made which is no more.
fn left_overs(listed: &str, runs: impl Fn(u32) -> bool) -> Vec<&str> {
    let dead = |name: &&str| {
        let rest = name.strip_prefix("nearbid-");
        let Some((pid, of)) = rest.and_then(|rest| rest.split_once('-')) else {
            return false;
        };
        NAMES.contains(&of) && pid.parse().is_ok_and(|pid| !runs(pid))
    };
    listed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(dead)
        .collect()
}

/// `ip` in a namespace of ours.
fn ip_in(name: &str, command: &str) -> anyhow::Result<()> {
    let namespace = namespace(name);
    let words: Vec<_> = ["-n", &namespace]
        .into_iter()
        .chain(command.split(' '))
        .collect();
    ip(&words)
}

fn ip(words: &[&str]) -> anyhow::Result<()> {
    run("ip", words)
}

fn run(program: &str, words: &[&str]) -> anyhow::Result<()> {
    let output = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run `{program}`: install iproute2"))?;
    ensure!(
        output.status.success(),
        "`{program} {}`: {}",
        words.join(" "),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_dead_runs_left_is_removed() {
        let listed = "nearbid-7-node1 (id: 3)\nnearbid-8-node1\nnearbid-7-mine\ncni-7-node1\n\
                      nearbid-x-node2\nnearbid-7-remote\n\n";
        assert_eq!(
            left_overs(listed, |pid| pid == 8),
            ["nearbid-7-node1", "nearbid-7-remote"]
        );
        assert_eq!(left_overs("", |_| false), Vec::<&str>::new());
    }
}

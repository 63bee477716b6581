"""Edges that share memory instead of a wire: all links between edges are memif, those to islands stay kernel interfaces.

Arguments: the folder of the programs. Exit code 77, with a reason, where there are no namespaces.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import case  # noqa: E402

# 200 kB at 10 Mbit/s.
SCALE = ("--bytes", "200M", "--scale", "0.001", "--deadline", "20")
ALL = [0, 1, 2]


class Memif(case.Case):
    def start_over_memif(self, edge, servers):
        """Starts the edge again, with a socket in the test's folder for each of its links. `servers`: the sites that listen."""
        def memif(match):
            link = match[1]
            role = "server" if edge["site"] == servers[link] else "client"
            # A path, because an abstract name would be its namespace's own.
            return (f'device: "net_memif_{link},role={role},id=0,socket={self.folder}/{link}.sock,socket-abstract=no,'
                    'rsize=9,bsize=9216"')

        config = pathlib.Path(edge["config"])
        text, count = re.subn(r'device: "net_af_packet\d+,iface=(link\d+),[^"]*"', memif, config.read_text())
        self.assertGreater(count, 0)
        config.write_text(text)
        return self.network.start_program(edge)

    def port(self, site, name):
        status = self.network.status(self.network.edge(site))
        return next(port for port in status["ports"] if port["name"] == name)

    def test_rounds_are_exact_and_an_edge_that_dies_comes_back(self):
        self.bring_up(case.LINE, "--schedule", "full", *SCALE)
        for edge in self.network.info["edges"]:
            self.network.kill_program(edge)
        # Clients first: they try until somebody listens.
        for site in ("C", "B", "A"):
            self.start_over_memif(self.network.edge(site), {"link0": "A", "link1": "B"})
        self.network.start_islands()
        status = self.wait_for_epoch(1, "with all", self.is_steady)
        number = self.network.wait_ready(status["epoch"])
        for more in range(2):
            self.expect_exact(number + more, ALL)
        # B forwards between its links, and each link carries two updates one way and one the other.
        for site, name in (("A", "to-B"), ("C", "to-B"), ("B", "to-A"), ("B", "to-C")):
            port = self.port(site, name)
            self.assertGreater(min(port["rx_bytes"], port["tx_bytes"]), 2 * 200000, name)

        # A is the server of its link: what it leaves must not be in its own way, and B has to join anew.
        edge = self.network.edge("A")
        epoch = self.network.status(edge)["jobs"][0]["epochs"]["newest"]
        self.network.kill_program(edge)
        self.wait_for_epoch(epoch + 1, "without A", lambda status: status["dead_sites"] == ["A"])
        self.network.start_program(edge)
        status = self.wait_for_epoch(epoch + 2, "with A", self.is_steady)
        self.expect_exact(self.network.wait_ready(status["epoch"]), ALL)


if __name__ == "__main__":
    case.main()

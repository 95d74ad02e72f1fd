# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
crnic-net := netdev channel cq tx_wqe tx rx drop rss steer vlan link ethtool

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Post a send by write() to the verbs device, with WQEs of a few bytes.

The oldest form of the interface, which needs no library: a header, then what
struct ib_uverbs_post_send holds. Prints the name of the errno.
"""

import errno
import os
import struct
import sys

POST_SEND = 28

fd = os.open(f'/dev/infiniband/{sys.argv[1]}', os.O_RDWR)
# response, QP handle, number of requests, of entries, bytes of a request
body = struct.pack('<QIIII', 0, 0, 1, 0, 4) + b'\0' * 8
head = struct.pack('<IHH', POST_SEND, (8 + len(body)) // 4, 0)
try:
    os.write(fd, head + body)
    print('taken')
except OSError as error:
    print(errno.errorcode[error.errno])

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_SESSION_H
#define CONTENT_SESSION_H

#include "options.h"

/**
 * session_active - lead the peer through all selected cases and report them
 * @o: the command line
 * @fd: the control channel
 *
 * Return: exit code of the process: 0 if nothing failed, 1 if a case did, 2 if it did not come to that.
 */
int session_active(const struct options *o, int fd);

/**
 * session_passive - follow the active side
 * @dev: device name, NULL for the first one
 * @fd: the control channel
 *
 * Return: exit code of the process: 0 if nothing failed, 1 if a case did, 2 if it did not come to that.
 */
int session_passive(const char *dev, int fd);

#endif

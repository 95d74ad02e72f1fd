/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One model and one driver, which is all that many suites start from. */
#ifndef MOCX_TESTS_FIXTURE_H
#define MOCX_TESTS_FIXTURE_H

#include "driver.h"

/**
 * struct Fixture - what cmocka hands to each test as its state
 * @w: a world of one host
 * @d: driver of that host's device
 */
typedef struct Fixture {
    World *w;
    Drv *d;
} Fixture;

/**
 * fixture_new() - set up with a driver that has done nothing yet
 * @state: gets the fixture
 *
 * Return: 0.
 */
int fixture_new(void **state);

/**
 * fixture_new_up() - set up with a device that is brought up
 * @state: gets the fixture
 *
 * Return: 0.
 */
int fixture_new_up(void **state);

/**
 * fixture_free() - undo fixture_new(); the driver has torn down what it made
 * @state: holds the fixture
 *
 * Return: 0.
 */
int fixture_free(void **state);

/**
 * fixture_free_up() - undo fixture_new_up()
 * @state: holds the fixture
 *
 * Return: 0.
 */
int fixture_free_up(void **state);

#endif

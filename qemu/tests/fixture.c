/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "fixture.h"

int fixture_new(void **state)
{
    Fixture *f = calloc(1, sizeof(*f));

    f->w = world_new(1, NULL);
    f->d = drv_new(f->w->host[0]);
    *state = f;
    return 0;
}

int fixture_new_up(void **state)
{
    Fixture *f;

    fixture_new(state);
    f = *state;
    drv_bring_up(f->d);
    return 0;
}

int fixture_free(void **state)
{
    Fixture *f = *state;

    drv_free(f->d);
    world_free(f->w);
    free(f);
    return 0;
}

int fixture_free_up(void **state)
{
    Fixture *f = *state;

    drv_tear_down(f->d);
    return fixture_free(state);
}

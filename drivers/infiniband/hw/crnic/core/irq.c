// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * MSI-X vectors.  The first one serves commands and asynchronous events, each
 * of the others one completion EQ, near the device first.
 */
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/slab.h>

#include "../compat/compat.h"
#include "core.h"

/**
 * struct crnic_irqs - the vectors that we got
 * @num: all of them
 * @affinity: CPU of each completion vector
 */
struct crnic_irqs {
	unsigned int num;
	cpumask_t affinity[];
};

/* One EQ number space for everything: keep some for commands and asynchronous events */
#define CRNIC_IRQS_EQ_RESERVE	4

static unsigned int crnic_irqs_eq_limit(const struct crnic_dev *dev)
{
	unsigned int eqs = CRNIC_CAP_GEN(dev, max_num_eqs);

	if (!eqs)
		eqs = 1U << CRNIC_CAP_GEN(dev, log_max_eq);
	return eqs > CRNIC_IRQS_EQ_RESERVE ? eqs - CRNIC_IRQS_EQ_RESERVE : 1;
}

static unsigned int crnic_irqs_wanted(const struct crnic_dev *dev)
{
	unsigned int comp = dev->cfg.comp_vectors ?: num_online_cpus();

	return CRNIC_IRQ_COMP_BASE + min(comp, crnic_irqs_eq_limit(dev));
}

/**
 * crnic_irqs_create - allocate the vectors
 * @dev: device; capabilities are known
 *
 * Return: 0 or a negative errno.
 */
int crnic_irqs_create(struct crnic_dev *dev)
{
	unsigned int want = crnic_irqs_wanted(dev), i;
	struct crnic_irqs *irqs;
	int num;

	num = pci_alloc_irq_vectors(dev->pdev, CRNIC_IRQ_COMP_BASE + 1, want, PCI_IRQ_MSIX);
	if (num < 0) {
		crnic_err(dev, "no MSI-X vectors: %pe\n", ERR_PTR(num));
		return num;
	}

	irqs = kzalloc(struct_size(irqs, affinity, num), GFP_KERNEL);
	if (!irqs) {
		pci_free_irq_vectors(dev->pdev);
		return -ENOMEM;
	}
	irqs->num = num;
	for (i = CRNIC_IRQ_COMP_BASE; i < num; i++)
		cpumask_set_cpu(cpumask_local_spread(i - CRNIC_IRQ_COMP_BASE, dev->numa_node),
				&irqs->affinity[i]);
	dev->irqs = irqs;
	return 0;
}

/**
 * crnic_irqs_destroy - undo crnic_irqs_create()
 * @dev: device
 */
void crnic_irqs_destroy(struct crnic_dev *dev)
{
	pci_free_irq_vectors(dev->pdev);
	kfree(dev->irqs);
	dev->irqs = NULL;
}

/**
 * crnic_irq_number - Linux interrupt number of a vector
 * @dev: device
 * @vector: MSI-X index
 *
 * Return: the number.
 */
int crnic_irq_number(const struct crnic_dev *dev, unsigned int vector)
{
	return pci_irq_vector(dev->pdev, vector);
}

/**
 * crnic_irq_sync - wait until no handler of a vector runs
 * @dev: device
 * @vector: MSI-X index
 *
 * Context: process.
 */
void crnic_irq_sync(const struct crnic_dev *dev, unsigned int vector)
{
	/* without vectors, as under test, there are no handlers */
	if (dev->irqs)
		synchronize_irq(crnic_irq_number(dev, vector));
}

/**
 * crnic_comp_vectors - number of completion vectors
 * @dev: device
 *
 * Return: number, at least 1.
 */
unsigned int crnic_comp_vectors(const struct crnic_dev *dev)
{
	KUNIT_STATIC_STUB_REDIRECT(crnic_comp_vectors, dev);

	return dev->irqs->num - CRNIC_IRQ_COMP_BASE;
}

/**
 * crnic_comp_irqn - Linux interrupt number of a completion vector
 * @dev: device
 * @vector: completion vector
 *
 * Return: the number.
 */
int crnic_comp_irqn(const struct crnic_dev *dev, unsigned int vector)
{
	KUNIT_STATIC_STUB_REDIRECT(crnic_comp_irqn, dev, vector);

	return crnic_irq_number(dev, CRNIC_IRQ_COMP_BASE + vector);
}

/**
 * crnic_comp_affinity - where a completion vector's interrupt goes
 * @dev: device
 * @vector: completion vector
 *
 * Return: its mask of CPUs.
 */
const struct cpumask *crnic_comp_affinity(const struct crnic_dev *dev, unsigned int vector)
{
	return &dev->irqs->affinity[CRNIC_IRQ_COMP_BASE + vector];
}

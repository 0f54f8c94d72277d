"""Checksums of the plans for 400 batches, for TestPlansEqualPython: the package in Python, written from its documentation."""

import math
import zlib

UNITS = 32


class Stack:
    def __init__(self):
        self.batches, self.margin, self.units = 0, 0.0, None
        self.current, self.previous = [], []  # peaks of each step, as fractions of positions, rows and the longest row

    def copy(self):
        other = Stack()
        other.batches, other.margin = self.batches, self.margin
        other.current, other.previous = [list(p) for p in self.current], [list(p) for p in self.previous]
        return other

    def peak(self, t, i):
        return max(self.current[t][i], self.previous[t][i])

    def note_step(self, t, need, sizes, steps_only):
        if t == len(self.current):
            self.current.append([0.0] * 3)
            self.previous.append([0.0] * 3)
        for i in range(3):
            share = 1.0 if steps_only and need[i] > 0 else need[i] / sizes[i]
            self.current[t][i] = max(self.current[t][i], share)

    def note(self, demand, sizes, steps_only):
        self.margin = max(0.5, self.margin)
        if self.batches > 0 and self.batches % 32 == 0:
            self.previous, self.current = self.current, [[0.0] * 3 for _ in self.current]
            self.margin = max(0.5, self.margin / 2)
        self.batches += 1
        for t, need in enumerate(demand):
            self.note_step(t, need, sizes, steps_only)

    def too_small(self, t, need, sizes, steps_only):
        if self.units is None:
            return False
        for i in range(3):
            wanted = sizes[i] if steps_only and need[i] > 0 else need[i]
            if wanted > (math.ceil(self.units[t][i] * sizes[i] / UNITS) if t < len(self.units) else 0):
                return True
        return False

    def observe(self, demand, sizes, steps_only):
        self.note(demand, sizes, steps_only)
        if any(self.too_small(t, need, sizes, steps_only) for t, need in enumerate(demand)):
            self.margin, self.units = min(4, 2 * self.margin), None

    def tight(self):
        plan = [[0, 0, 0] for _ in self.current]
        for t in reversed(range(len(plan))):
            for i in range(3):
                if self.peak(t, i) > 0:
                    level = math.ceil(UNITS * self.peak(t, i) + self.margin)
                    plan[t][i] = min(level + level % 2 if level > 8 else level, UNITS)
                if t + 1 < len(plan):
                    plan[t][i] = max(plan[t][i], plan[t + 1][i])
        while plan and plan[-1][0] == 0:
            plan.pop()
        return plan

    def larger(self, first, steps_only):
        plan = self.tight()
        for t, old in enumerate(self.units or []):
            if t >= len(plan):
                plan.append(list(old))
            plan[t] = [max(a, b) for a, b in zip(plan[t], old)]
        above, further = [UNITS] * 3, 1 if steps_only else 2
        for t in range(len(plan)):
            if plan[t][0] <= 4:
                above, further = [min(above[0], 4)] + above[1:], further - 1
            if t >= first:
                plan[t] = list(above)
            above = list(plan[t])
        while self.units is not None and further > 0 and len(plan) + 1 < len(self.current):
            if not steps_only:
                above = [min(above[0], 4)] + above[1:]
            plan.append(list(above))
            further -= 1
        return plan

    def full(self):
        return UNITS * max(0, len(self.current) - 1)

    def total(self):
        return self.full() if self.units is None else sum(u[0] for u in self.units)

    def grown(self, demand, sizes, steps_only):
        for t, need in enumerate(demand):
            self.note_step(t, need, sizes, steps_only)
            if self.too_small(t, need, sizes, steps_only):
                self.margin = min(4, 2 * self.margin)
                return self.larger(t, steps_only)
        return self.units

    def enlarge(self, sizes, steps_only):
        for t in range(len(self.current)):
            need = [math.floor(self.peak(t, i) * sizes[i] + 0.5) for i in range(3)]
            if self.too_small(t, need, sizes, steps_only):
                self.units = self.larger(t, steps_only)
                return

    def capacities(self, sizes):
        rounded = [[math.ceil(u[i] * sizes[i] / UNITS) for i in range(3)] for u in self.units or []]
        return [(min(p, r * l), r, l) for p, r, l in rounded]

    def enough(self, sizes, demand):
        given = self.capacities(sizes) + [(0, 0, 0)] * len(demand)
        return self.units is None or all(n <= c for need, have in zip(demand, given) for n, c in zip(need, have))


class Plan:
    def __init__(self, shape):
        self.shape, self.stacks, self.wasted = shape, (Stack(), Stack()), 0.0


def sizes_of(shape, stack):
    return shape[0] * shape[1 + stack], shape[0], shape[1 + stack]


class Planner:
    def __init__(self, steps_only, cost):
        self.steps_only, self.cost, self.plans = steps_only, cost, []

    def plan_for(self, shape):
        for plan in self.plans:
            if plan.shape == shape:
                for k, stack in enumerate(plan.stacks):
                    stack.enlarge(sizes_of(shape, k), self.steps_only)
                return plan
        plan = Plan(shape)
        if self.plans:
            nearest = min(self.plans, key=lambda known: sum(abs(a - b) for a, b in zip(known.shape, shape)))
            plan.stacks = tuple(stack.copy() for stack in nearest.stacks)
        for stack in plan.stacks:
            stack.units = stack.larger(0, self.steps_only) if stack.batches >= 3 else None
        self.plans.append(plan)
        return plan

    def observe(self, plan, parameters, needed):
        similar = lambda a, b: max(a, b) <= 1.25 * min(a, b)
        for other in self.plans:
            if other is not plan and similar(other.shape[1], plan.shape[1]) and similar(other.shape[2], plan.shape[2]):
                for k, stack in enumerate(other.stacks):
                    if len(needed[k]) > 1:
                        stack.note(needed[k], sizes_of(plan.shape, k), self.steps_only)
        before, after, steps, ready, smaller = 0, 0, 0, True, []
        for k, stack in enumerate(plan.stacks):
            if len(needed[k]) > 1:
                sizes = sizes_of(plan.shape, k)
                stack.observe(needed[k], sizes, self.steps_only)
                tight = stack.tight()
                smaller.append((stack, tight))
                before, after = before + sizes[0] * stack.total(), after + sizes[0] * sum(u[0] for u in tight)
                steps, ready = steps + len(tight), ready and stack.batches >= 3
        plan.wasted = max(0.0, plan.wasted + (before - after) / UNITS * parameters)
        if ready and after <= 0.95 * before and plan.wasted >= self.cost * steps:
            plan.wasted = 0.0
            for stack, units in smaller:
                stack.units = units

    def grow(self, plan, parameters, needed):
        saved, steps, larger = 0, 0, []
        for k, stack in enumerate(plan.stacks):
            if len(needed[k]) > 1:
                sizes, units = sizes_of(plan.shape, k), stack.units
                if units is not None:
                    units = stack.grown(needed[k], sizes, self.steps_only)
                    saved += (stack.full() - sum(u[0] for u in units)) / UNITS * sizes[0] * parameters
                larger.append((stack, units))
                steps += len(units or [])
        if saved * 8 < self.cost * steps:
            return False
        plan.wasted = 0.0
        for stack, units in larger:
            stack.units = units
        return True


class Numbers:
    state = 12345

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n

    def demand(self, rows, length, percent):
        demand = [[0, 0, 0] for _ in range(9)]
        for _ in range(rows):
            row = [0] * 9
            for _ in range(length):
                for t in range(8):
                    row[t] += 1
                    if self.below(100) >= percent:
                        break
            demand = [[d[0] + n, d[1] + (n > 0), max(d[2], n)] for d, n in zip(demand, row)]
        return demand


def checksum(steps_only, cost):
    numbers, planner, result = Numbers(), Planner(steps_only, cost), 0
    shapes = [(4, 8, 4), (4, 10, 5), (3, 9, 4), (5, 16, 1), (4, 16, 12)]
    for i in range(400):
        shape = shapes[numbers.below(5 if i >= 100 else 3)]
        percent = [30, 75, 45, 85][i // 50 % 4] + 12 * (numbers.below(4) == 0)
        needed = [numbers.demand(shape[0], shape[1], percent), [[0, 0, 0]]]
        if shape[2] > 1:
            needed[1] = numbers.demand(shape[0], shape[2], percent - 20)
        plan, grown = planner.plan_for(shape), 0
        if not all(s.enough(sizes_of(shape, k), needed[k]) for k, s in enumerate(plan.stacks)):
            ran = [n if s.units is None else n[: len(s.units) + 1] for s, n in zip(plan.stacks, needed)]
            grown = 1 + planner.grow(plan, 50, ran)
        planner.observe(plan, 50, needed)
        line = f"{i} {grown}"
        for known in planner.plans:
            line += f" | {known.wasted:.6f}"
            for k, stack in enumerate(known.stacks):
                line += f" {stack.batches} {stack.margin:.6f} {stack.total() / UNITS:.6f}"
                for both in zip(stack.current, stack.previous):
                    line += "".join(" [" + " ".join(f"{v:.6f}" for v in peak) + "]" for peak in both)
                for three in (stack.units or []) + stack.capacities(sizes_of(known.shape, k)):
                    line += " " + ",".join(map(str, three))
        result = zlib.crc32((line + "\n").encode(), result)
    return hex(result)


for steps_only in False, True:
    for cost in 0, 300, 20000:
        print(steps_only, cost, checksum(steps_only, cost))

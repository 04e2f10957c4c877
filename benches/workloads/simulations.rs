//! Two simulations in Rust, with adjoints written by hand.

use std::hint::black_box;

const GRAVITY: f64 = 9.81;
const STEP: f64 = 0.01;

/// What the adjoint of a stage of a step needs: sine and cosine of its angle, and its speed.
#[derive(Clone, Copy, Default)]
struct Stage {
    sin: f64,
    cos: f64,
    speed: f64,
}

struct Pendulum {
    pull: f64,
    friction: f64,
}

/// The adjoints of the pull and the friction.
#[derive(Default)]
struct PendulumAdjoint {
    pull: f64,
    friction: f64,
}

impl Pendulum {
    fn change(&self, [angle, speed]: [f64; 2]) -> ([f64; 2], Stage) {
        let (sin, cos) = angle.sin_cos();
        ([speed, -self.pull * sin - self.friction * speed], Stage { sin, cos, speed })
    }

    /// Returns the adjoint of the state, given that of the change.
    fn change_back(&self, stage: Stage, back: [f64; 2], adjoint: &mut PendulumAdjoint) -> [f64; 2] {
        adjoint.pull -= stage.sin * back[1];
        adjoint.friction -= stage.speed * back[1];
        [-self.pull * stage.cos * back[1], back[0] - self.friction * back[1]]
    }
}

fn moved(state: [f64; 2], change: [f64; 2], time: f64) -> [f64; 2] {
    [state[0] + time * change[0], state[1] + time * change[1]]
}

pub fn pendulum_gradient(count: usize) -> f64 {
    let mut stages = vec![[Stage::default(); 4]; 1000];
    let mut sum = 0.0;
    for i in 0..count {
        let [start, friction, length] = black_box([0.5 + 0.001 * (i % 100) as f64, 0.2, 1.3]);
        let (value, gradient) = pendulum([start, black_box(0.1)], friction, length, &mut stages);
        sum += value + gradient.iter().map(|g| g.abs()).sum::<f64>();
    }
    sum
}

/// Returns the final angle, and its partials with respect to the initial angle, the initial speed, the friction and the
/// length.
fn pendulum(start: [f64; 2], friction: f64, length: f64, stages: &mut [[Stage; 4]]) -> (f64, [f64; 4]) {
    let h = STEP;
    let pendulum = Pendulum { pull: GRAVITY / length, friction };
    let mut state = start;
    for stages in &mut *stages {
        let (k1, s1) = pendulum.change(state);
        let (k2, s2) = pendulum.change(moved(state, k1, h / 2.0));
        let (k3, s3) = pendulum.change(moved(state, k2, h / 2.0));
        let (k4, s4) = pendulum.change(moved(state, k3, h));
        *stages = [s1, s2, s3, s4];
        for n in 0..2 {
            state[n] += h / 6.0 * (k1[n] + 2.0 * k2[n] + 2.0 * k3[n] + k4[n]);
        }
    }
    let (mut back, mut adjoint) = ([1.0, 0.0], PendulumAdjoint::default());
    for &[s1, s2, s3, s4] in stages.iter().rev() {
        // The adjoint of a stage: its weight in the step, and its contribution to the next stage.
        let share = |weight: f64, next: [f64; 2], time: f64| {
            [h / 6.0 * weight * back[0] + time * next[0], h / 6.0 * weight * back[1] + time * next[1]]
        };
        let b4 = pendulum.change_back(s4, share(1.0, [0.0; 2], 0.0), &mut adjoint);
        let b3 = pendulum.change_back(s3, share(2.0, b4, h), &mut adjoint);
        let b2 = pendulum.change_back(s2, share(2.0, b3, h / 2.0), &mut adjoint);
        let b1 = pendulum.change_back(s1, share(1.0, b2, h / 2.0), &mut adjoint);
        back = [back[0] + b1[0] + b2[0] + b3[0] + b4[0], back[1] + b1[1] + b2[1] + b3[1] + b4[1]];
    }
    (state[0], [back[0], back[1], adjoint.friction, -adjoint.pull * pendulum.pull / length])
}

#[derive(Clone, Copy, Default)]
struct Tube {
    spacing: f64,
    diameter: f64,
    thickness: f64,
    resistivity: f64,
}

#[derive(Clone, Copy, Default)]
struct Slab {
    temperature: f64,
    area: f64,
    heat_capacity: f64,
    density: f64,
    thickness: f64,
}

#[derive(Clone, Copy, Default)]
struct Water {
    power: f64,
    temperature: f64,
    flow: f64,
    density: f64,
    heat_capacity: f64,
}

#[derive(Clone, Copy, Default)]
struct Tank {
    temperature: f64,
    volume: f64,
    heat_capacity: f64,
    density: f64,
    mass: f64,
}

/// The parameters of the simulation of a building, and likewise the partials with respect to them.
#[derive(Clone, Copy, Default)]
struct Building {
    tube: Tube,
    slab: Slab,
    water: Water,
    tank: Tank,
    start: f64,
}

const STEPS: usize = 20;
const DURATION: f64 = 0.1;

pub fn building_gradient(count: usize) -> f64 {
    let mut building = Building {
        tube: Tube { spacing: 0.50292, diameter: 0.019, thickness: 0.001_588, resistivity: 2.43 },
        slab: Slab { temperature: 21.1, area: 100.0, heat_capacity: 0.2, density: 2242.58, thickness: 0.101 },
        water: Water { power: 0.0, temperature: 60.0, flow: 0.000_630_9, density: 1000.0, heat_capacity: 4180.0 },
        tank: Tank { temperature: 70.0, volume: 0.075_708_2, heat_capacity: 4180.0, density: 1000.0, mass: 75.708 },
        start: 33.3,
    };
    let mut sum = 0.0;
    for i in 0..count {
        building.start = 33.3 + 0.001 * (i % 100) as f64;
        let (value, slope) = black_box(building_loss(black_box(&building)));
        sum += value + slope.start + slope.tube.diameter + slope.slab.density + slope.water.flow + slope.tank.volume;
    }
    sum
}

/// Returns the loss and its gradient. What is the same in all steps is computed before them, and so are its adjoints after
/// them.
fn building_loss(building: &Building) -> (f64, Building) {
    let Building { tube, slab, water, tank, start } = building;
    let surface = slab.area / tube.spacing * std::f64::consts::PI * tube.diameter;
    let conductance = surface / (tube.resistivity * tube.thickness * 10.0);
    let flow = water.flow * water.density * water.heat_capacity;
    let by_tank = DURATION / (tank.heat_capacity * tank.volume * tank.density);
    let by_water = 1.0 / flow;
    let by_slab = DURATION / (slab.heat_capacity * slab.area * slab.thickness * slab.density);

    let (mut in_tank, mut in_water, mut in_slab) = (tank.temperature, water.temperature, *start);
    let mut saved = [[0.0; 4]; STEPS];
    for saved in &mut saved {
        let before = in_tank - in_water;
        let from_tank = before * flow;
        in_tank -= from_tank * by_tank;
        in_water += from_tank * by_water;
        let after = in_slab - in_water;
        let from_slab = after * conductance;
        *saved = [before, from_tank, after, from_slab];
        in_water += from_slab * by_water;
        in_slab -= from_slab * by_slab;
    }
    let distance = in_slab - 27.3;

    let (mut b_tank, mut b_water, mut b_slab) = (0.0, 0.0, f64::signum(distance));
    let (mut b_conductance, mut b_flow, mut b_by_tank, mut b_by_water, mut b_by_slab) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for [before, from_tank, after, from_slab] in saved.into_iter().rev() {
        let back = b_water * by_water - b_slab * by_slab;
        b_by_water += b_water * from_slab;
        b_by_slab -= b_slab * from_slab;
        b_conductance += back * after;
        b_slab += back * conductance;
        b_water -= back * conductance;
        let back = b_water * by_water - b_tank * by_tank;
        b_by_tank -= b_tank * from_tank;
        b_by_water += b_water * from_tank;
        b_flow += back * before;
        b_tank += back * flow;
        b_water -= back * flow;
    }
    b_flow -= b_by_water * by_water / flow;
    // Products and quotients of the parameters: the partial with respect to a factor is the product divided by it.
    let (conductance, flow) = (b_conductance * conductance, b_flow * flow);
    let (by_tank, by_slab) = (-b_by_tank * by_tank, -b_by_slab * by_slab);
    let gradient = Building {
        tube: Tube {
            spacing: -conductance / tube.spacing,
            diameter: conductance / tube.diameter,
            thickness: -conductance / tube.thickness,
            resistivity: -conductance / tube.resistivity,
        },
        slab: Slab {
            temperature: 0.0,
            area: (conductance + by_slab) / slab.area,
            heat_capacity: by_slab / slab.heat_capacity,
            density: by_slab / slab.density,
            thickness: by_slab / slab.thickness,
        },
        water: Water {
            power: 0.0,
            temperature: b_water,
            flow: flow / water.flow,
            density: flow / water.density,
            heat_capacity: flow / water.heat_capacity,
        },
        tank: Tank {
            temperature: b_tank,
            volume: by_tank / tank.volume,
            heat_capacity: by_tank / tank.heat_capacity,
            density: by_tank / tank.density,
            mass: 0.0,
        },
        start: b_slab,
    };
    (distance.abs(), gradient)
}

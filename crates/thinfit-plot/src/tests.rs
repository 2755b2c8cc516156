//! Properties of every plot, for any numbers and names: the SVG is well formed, its coordinates are finite, and no
//! text leaves the plot or overlaps another.

use proptest::prelude::*;

use crate::canvas::Shape;
use crate::*;

/// The rectangle of a text, a little smaller than its letters may need.
fn covered(shape: &Shape) -> Option<[f64; 4]> {
    let Shape::Text { at, text, style } = shape else {
        return None;
    };
    let length = text::width(text, *style);
    let (start, end) = (
        -style.anchor.before() * length,
        (1.0 - style.anchor.before()) * length,
    );
    let (ascent, descent) = (0.72 * style.size, 0.1 * style.size);
    Some(match style.upwards {
        false => [at.0 + start, at.0 + end, at.1 - ascent, at.1 + descent],
        true => [at.0 - ascent, at.0 + descent, at.1 - end, at.1 - start],
    })
}

fn check(name: &str, canvas: &Canvas) {
    let svg = canvas.to_svg();
    let document =
        roxmltree::Document::parse(&svg).unwrap_or_else(|e| panic!("{name}: {e}\n{svg}"));
    let lengths = [
        "x",
        "y",
        "cx",
        "cy",
        "r",
        "width",
        "height",
        "points",
        "font-size",
        "stroke-width",
    ];
    for node in document.descendants() {
        for attribute in node.attributes().filter(|a| lengths.contains(&a.name())) {
            for number in attribute.value().split([' ', ',']) {
                let value: f64 = number.parse().unwrap();
                assert!(value.abs() <= 1e5, "{name}: {attribute:?}");
            }
        }
    }
    assert!(svg.len() < 2_000_000, "{name}: {}", svg.len());
    assert!(canvas.to_png(0.2).is_ok(), "{name}");
    assert!(canvas.width < 1500.0 && canvas.height < 1500.0, "{name}");

    let texts: Vec<(&Shape, [f64; 4])> = canvas
        .shapes
        .iter()
        .filter_map(|shape| covered(shape).map(|place| (shape, place)))
        .collect();
    let read = |shape: &Shape| match shape {
        Shape::Text { text, at, .. } => format!("{text:?} at {at:?}"),
        _ => String::new(),
    };
    for (index, (shape, place)) in texts.iter().enumerate() {
        let [left, right, top, bottom] = *place;
        assert!(
            left >= 0.0 && right <= canvas.width && top >= 0.0 && bottom <= canvas.height,
            "{name}: {} leaves the picture of {} x {}",
            read(shape),
            canvas.width,
            canvas.height
        );
        for (other, [l, r, t, b]) in &texts[index + 1..] {
            assert!(
                right <= *l || *r <= left || bottom <= *t || *b <= top,
                "{name}: {} overlaps {}",
                read(shape),
                read(other)
            );
        }
    }
}

fn hostile() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -10.0..10.0,
        2 => any::<f64>(),
        2 => prop::sample::select(vec![
            0.0, -0.0, 1.0, 1e-300, 1e300, -1e300, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324,
            f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e9, 1e9 + 1.0, 12345.678, -1e-7,
        ]),
    ]
}

/// Equal values, values of one magnitude, or any mixture.
fn values(most: usize) -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        (hostile(), 0..most).prop_map(|(value, count)| vec![value; count]),
        (-300i32..300, prop::collection::vec(-1.0..1.0, 0..most)).prop_map(|(power, values)| {
            let scale = |value: f64| value * 10f64.powi(power);
            values.into_iter().map(scale).collect()
        }),
        prop::collection::vec(hostile(), 0..most),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,8}",
        any::<String>(),
        Just("<&\">'\u{1}\u{ffff}]]>".to_string()),
        Just("a name that does not end ".repeat(40)),
    ]
}

fn names() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(name(), 0..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn features_survive_anything(
        title in name(), inputs in names(), w in values(200), magnitude in values(20),
        importance in values(30), support in prop::collection::vec(prop::array::uniform2(hostile()), 0..3),
    ) {
        let (measure, unit) = (&*title, &*title);
        for d in [inputs.len(), inputs.len().min(5), inputs.len().min(2)] {
            let inputs = &inputs[..d];
            let drawn = Features {
                title: &title, w: &w, magnitude: &magnitude, importance: &importance, measure, inputs, unit,
                support: &support,
            };
            check("features", &features(drawn));
        }
    }

    #[test]
    fn feature_grids_survive_anything(
        title in name(), titles in names(), w in values(60), magnitude in values(20), reach in hostile(),
        support in prop::collection::vec(prop::array::uniform2(hostile()), 0..3),
    ) {
        let titles: Vec<&str> = titles.iter().map(String::as_str).take(7).collect();
        let (rows, columns) = titles.split_at(titles.len() / 2);
        let networks = [Weights { w: &w, magnitude: &magnitude }; 7];
        for reach in [None, Some(reach)] {
            check("grid", &feature_grid(FeatureGrid {
                title: &title, rows, columns, networks: &networks, support: &[&support], reach,
            }));
        }
    }

    #[test]
    fn bars_survive_anything(title in name(), inputs in names(), first in values(40), total in values(40)) {
        check("importance", &importance(Importance {
            title: &title, inputs: &inputs, first: &first, total: &total,
            notes: &[],
        }));
    }

    #[test]
    fn learning_curves_survive_anything(
        title in name(), phases in names(), steps in values(40), loss in values(40), starts in values(8),
    ) {
        let points: Vec<(f64, f64)> = steps.into_iter().zip(loss).collect();
        let phases: Vec<(f64, &str)> = starts.into_iter().zip(phases.iter().map(String::as_str)).collect();
        let (loss, validation) = points.split_at(points.len() / 2);
        check("learning", &learning(Learning {
            title: &title, measure: &title, loss, validation, phases: &phases,
        }));
    }

    #[test]
    fn predictions_survive_anything(
        title in name(), quantity in name(), truth in values(40), predicted in values(40), other in values(40),
    ) {
        let drawn = Prediction {
            title: &title, notes: &[&quantity], quantity: &quantity, measured: &truth, predicted: &predicted,
            bounds: Some((&other, &truth)),
        };
        check("prediction", &prediction(drawn));
        check("residuals", &residuals(drawn));
        let series = [&predicted, &other, &truth].map(|predicted| Series { label: &title, predicted });
        for count in 0..=3 {
            check("fit", &fit(&title, &quantity, &truth, &series[..count]));
        }
    }

    #[test]
    fn effects_survive_anything(
        title in name(), inputs in names(), x in values(12), y in values(12), low in values(12), high in values(12),
    ) {
        let each: Vec<Effect<'_>> = inputs
            .iter()
            .enumerate()
            .map(|(index, input)| Effect {
                input, x: &x, y: &y, rug: &low,
                levels: if index % 4 == 3 { &inputs } else { &[] },
                band: (index % 2 == 0).then_some((&low, &high)),
                warp: (index % 3 == 0).then_some([0.1, 0.01]),
            })
            .collect();
        check("effects", &effects(Effects { title: &title, note: &title, quantity: &title, effects: &each }));
    }

    #[test]
    fn distributions_survive_anything(title in name(), outputs in names(), values in values(60), marks in values(9)) {
        let marks: Vec<(String, f64)> = marks.into_iter().map(|mark| (title.clone(), mark)).collect();
        let each: Vec<Histogram<'_>> = outputs
            .iter()
            .map(|quantity| Histogram { quantity, values: &values, marks: &marks, limits: &marks })
            .collect();
        check("distributions", &distributions(&title, &each));
    }

    #[test]
    fn fronts_survive_anything(title in name(), outputs in names(), points in prop::collection::vec(values(30), 0..40)) {
        for count in 0..=outputs.len() {
            let outputs = &outputs[..count];
            check("front", &tradeoffs(Tradeoffs { title: &title, outputs, points: &points }));
        }
    }
}

#[test]
fn many_points_make_small_files() {
    let truth: Vec<f64> = (0..60_000).map(|i| f64::from(i).sin()).collect();
    let predicted: Vec<f64> = (0..60_000).map(|i| f64::from(i).cos()).collect();
    let drawn = Prediction {
        title: "t",
        notes: &[],
        quantity: "y",
        measured: &truth,
        predicted: &predicted,
        bounds: None,
    };
    check("prediction", &prediction(drawn));
    check("residuals", &residuals(drawn));
    let series = Series {
        label: "a",
        predicted: &predicted,
    };
    check("fit", &fit("t", "y", &truth, &[series; 3]));
}

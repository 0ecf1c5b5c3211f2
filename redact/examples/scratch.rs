use prosescope_redact::*;

fn main() {
    let mut s = String::new();
    let mut open = vec![std::path::PathBuf::from(std::env::args().nth(1).unwrap_or("docs".into()))];
    while let Some(f) = open.pop() { for e in std::fs::read_dir(f).unwrap().flatten() { if e.path().is_dir() { open.push(e.path()) } else if let Ok(t)=std::fs::read_to_string(e.path()) { s.push_str(&t) } } }
    while s.len() < 10_000_000 { let m = s.clone(); s.push_str(&m); }
    let mut t = 10_000_000; while !s.is_char_boundary(t) { t+=1 } s.truncate(t);
    let time = |r: &Rules| { let mut best = f64::MAX; for _ in 0..5 { let (_, d) = prosescope_test_support::work::spent(|| r.scan(&s, &mut SecretNames::new())); best = best.min(d.as_secs_f64()); } best };
    let all = time(&Rules::new());
    println!("all {:.1} ms", all*1e3);
    let mut v: Vec<_> = rules().map(|rule| { let mut r = Rules::new(); r.without_rule(&rule.id); ((all - time(&r))*1e3, rule.id.clone()) }).collect();
    v.sort_by(|a,b| b.0.total_cmp(&a.0));
    for (d,id) in v.iter().take(14) { println!("{d:.1} ms {id}"); }
}

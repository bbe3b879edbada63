// symbolize_sample.rs - what symbolize_sample.cpp is, for Rust: generics, trait objects, closures,
// iterator chains. Compiled by tests/e2e/test_symbolizer.py where there is a rustc.
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;

trait Shape {
    fn area(&self) -> f64;
}

struct Square(f64);

struct Circle {
    radius: f64,
}

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        self.radius * self.radius * 3.14
    }
}

struct Sorted<T> {
    items: Vec<T>,
}

impl<T: Clone + Ord> Sorted<T> {
    fn push(&mut self, item: T) {
        self.items.push(item);
        self.items.sort();
    }

    fn top(&self) -> Option<&T> {
        self.items.last()
    }
}

fn join<T: Display>(items: &[T]) -> String {
    items.iter().map(|item| format!("{item},")).collect()
}

fn main() {
    let mut sums = HashMap::new();
    let mut names = BTreeMap::new();
    let mut sorted = Sorted { items: vec![] };
    for i in 0..2000u64 {
        *sums.entry(i * 7919 % 101).or_insert(0) += i;
        names.insert(format!("k{}", i % 97), i);
        sorted.push(i * 31 % 1013);
    }
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(2.0)), Box::new(Circle { radius: 1.0 })];
    let area: f64 = shapes.iter().map(|shape| shape.area()).sum();
    let values = join(&sums.values().collect::<Vec<_>>());
    println!("{} {} {:?} {} {}", sums.len(), names.len(), sorted.top(), area, values.len());
}

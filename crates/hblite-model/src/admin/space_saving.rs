//! Space-Saving: the heaviest of many items in a list of bounded size.
//!
//! An item that is not in the full list takes the place of the lightest one, with its count, which
//! is the error (Metwally, Agrawal, El Abbadi: "Efficient computation of frequent and top-k
//! elements in data streams", 2005).

/// A list of the heaviest items.
#[derive(Debug)]
pub struct SpaceSaving<K> {
    requests: u64,
    items: Vec<Item<K>>,
}

#[derive(Debug)]
struct Item<K> {
    hash: u64,
    count: u64,
    /// How much of the count may be of other items.
    error: u64,
    key: K,
}

impl<K> Default for SpaceSaving<K> {
    fn default() -> Self {
        Self { requests: 0, items: Vec::new() }
    }
}

impl<K: Default> SpaceSaving<K> {
    /// All requests.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Counts `weight` requests of an item with this hash, in a list of at most `items_max`. `is`
    /// compares; `write` turns the key of another item into that of this one.
    pub fn add(
        &mut self,
        (hash, weight): (u64, u64),
        items_max: usize,
        is: impl Fn(&K) -> bool,
        write: impl FnOnce(&mut K),
    ) {
        self.requests = self.requests.saturating_add(weight);
        let known = self.items.iter_mut().find(|known| known.hash == hash && is(&known.key));
        if let Some(known) = known {
            known.count = known.count.saturating_add(weight);
            return;
        }
        if self.items.len() < items_max {
            let mut key = K::default();
            write(&mut key);
            self.items.push(Item { hash, count: weight, error: 0, key });
            return;
        }
        if let Some(lightest) = self.items.iter_mut().min_by_key(|item| item.count) {
            lightest.error = lightest.count;
            lightest.count = lightest.count.saturating_add(weight);
            lightest.hash = hash;
            write(&mut lightest.key);
        }
    }

    /// All requests, how much too low a count is at most, and the counts. An item that is not
    /// listed counts as 0.
    pub fn into_counts(self) -> (u64, u64, Vec<(K, u64)>) {
        // An item that never was in the list, or was, has at most the count of the lightest.
        let is_exact = self.items.iter().all(|item| item.error == 0);
        let lightest = self.items.iter().map(|item| item.count).min();
        let error = lightest.filter(|_| !is_exact).unwrap_or(0);
        let counts = self.items.into_iter().map(|item| (item.key, item.count - item.error));
        (self.requests, error, counts.collect())
    }
}

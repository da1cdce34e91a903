//! Which server has which region.
//!
//! New tables are assigned in key order, and the halves of a split region stay on its server. At
//! each window boundary the balancer moves regions, with what it knows at that moment: numbers of
//! regions, or their requests in the window that ends. It never knows the future.

use serde::{Deserialize, Serialize};

use super::Window;

/// How regions are assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Balancer {
    /// The same number of regions on each server, whatever their load.
    RegionCount,
    /// The same number of requests on each server, by those of the last window. A region moves from
    /// the busiest server to the idlest as long as that reduces the load of the busier of the two.
    Load,
}

/// The assignment of regions to servers, kept across windows.
#[derive(Debug)]
pub(super) struct Placement {
    balancer: Balancer,
    server_count: usize,
    server_of: Vec<Option<u32>>,
}

impl Placement {
    pub(super) fn new(balancer: Balancer, server_count: usize, region_count: usize) -> Self {
        Self { balancer, server_count, server_of: vec![None; region_count] }
    }

    pub(super) fn server_of(&self, region: u32) -> Option<usize> {
        self.server_of.get(region as usize).copied().flatten().map(|server| server as usize)
    }

    /// Assigns the regions of a window; returns those that were on another server before.
    pub(super) fn begin(
        &mut self,
        window: &Window,
        parents: &[Option<u32>],
        last_loads: &[u64],
    ) -> Vec<u32> {
        let is_first = self.server_of.iter().all(Option::is_none);
        for (index, &region) in window.regions.iter().enumerate() {
            if self.server_of[region as usize].is_none() {
                let server = if is_first {
                    Some((index % self.server_count) as u32)
                } else {
                    self.inherited(region, parents)
                };
                self.server_of[region as usize] = Some(server.unwrap_or(0));
            }
        }
        let before: Vec<Option<u32>> =
            window.regions.iter().map(|&region| self.server_of[region as usize]).collect();
        match self.balancer {
            Balancer::RegionCount => self.balance(&window.regions, |_| 1),
            Balancer::Load => {
                self.balance(&window.regions, |region| last_loads[region as usize]);
            }
        }
        let moved = window.regions.iter().zip(before);
        let moved = moved.filter(|(region, before)| self.server_of[**region as usize] != *before);
        moved.map(|(&region, _)| region).collect()
    }

    fn inherited(&self, region: u32, parents: &[Option<u32>]) -> Option<u32> {
        let mut ancestor = parents[region as usize];
        // Parents precede their children, so this ends.
        while let Some(region) = ancestor {
            if let Some(server) = self.server_of[region as usize] {
                return Some(server);
            }
            ancestor = parents[region as usize].filter(|&parent| parent < region);
        }
        None
    }

    /// Moves regions from the busiest to the idlest server while that helps.
    fn balance(&mut self, regions: &[u32], load: impl Fn(u32) -> u64) {
        let mut on: Vec<Vec<u32>> = vec![Vec::new(); self.server_count];
        let mut loads = vec![0u64; self.server_count];
        for &region in regions {
            let server = self.server_of(region).unwrap_or(0);
            on[server].push(region);
            loads[server] += load(region);
        }
        for _ in 0..regions.len() {
            let busiest = (0..self.server_count).max_by_key(|&server| loads[server]).unwrap_or(0);
            let idlest = (0..self.server_count).min_by_key(|&server| loads[server]).unwrap_or(0);
            let gap = loads[busiest] - loads[idlest];
            // The best region to move is the one nearest to half of the gap.
            let candidates = on[busiest].iter().enumerate();
            let helps = candidates.filter(|(_, region)| (1..gap).contains(&load(**region)));
            let best = helps.min_by_key(|(_, region)| load(**region).abs_diff(gap / 2));
            let Some((index, &region)) = best else { return };
            on[busiest].swap_remove(index);
            on[idlest].push(region);
            loads[busiest] -= load(region);
            loads[idlest] += load(region);
            self.server_of[region as usize] = Some(idlest as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(regions: &[u32]) -> Window {
        Window { first_request: 0, regions: regions.to_vec() }
    }

    fn servers(placement: &Placement, regions: &[u32]) -> Vec<usize> {
        regions.iter().filter_map(|&region| placement.server_of(region)).collect()
    }

    #[test]
    fn new_tables_are_dealt_out() {
        let mut placement = Placement::new(Balancer::RegionCount, 3, 7);
        let moved = placement.begin(&window(&[0, 1, 2, 3, 4, 5, 6]), &[None; 7], &[0; 7]);
        assert_eq!(servers(&placement, &[0, 1, 2, 3, 4, 5, 6]), [0, 1, 2, 0, 1, 2, 0]);
        assert!(moved.is_empty());
    }

    #[test]
    fn halves_begin_where_the_whole_was_and_are_counted() {
        let mut placement = Placement::new(Balancer::RegionCount, 2, 3);
        let parents = [None, Some(0), Some(0)];
        placement.begin(&window(&[0]), &parents, &[0; 3]);
        let moved = placement.begin(&window(&[1, 2]), &parents, &[0; 3]);
        assert_eq!(moved.len(), 1, "one of the halves goes to the other server");
    }

    #[test]
    fn by_load_the_busiest_gives_away() {
        let mut placement = Placement::new(Balancer::Load, 2, 4);
        placement.begin(&window(&[0, 1, 2, 3]), &[None; 4], &[0; 4]);
        // Regions 0 and 2 are on server 0 and have everything.
        let moved = placement.begin(&window(&[0, 1, 2, 3]), &[None; 4], &[50, 0, 50, 0]);
        assert_eq!(moved.len(), 1);
        let servers = servers(&placement, &[0, 2]);
        assert_ne!(servers[0], servers[1]);
        // A single hot region cannot be shared: moving it would only move the load.
        let moved = placement.begin(&window(&[0, 1, 2, 3]), &[None; 4], &[100, 0, 0, 0]);
        assert!(moved.is_empty(), "{moved:?}");
    }
}

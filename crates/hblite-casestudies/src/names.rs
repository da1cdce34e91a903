//! Words for generated data.

/// Given names.
pub(crate) const GIVEN: &[&str] = &[
    "Ada", "Grace", "Barbara", "Edsger", "Donald", "Leslie", "Tony", "Frances", "Ken", "Dennis",
    "Radia", "Jim", "Michael", "Margaret", "Alan", "John",
];

/// Family names.
pub(crate) const FAMILY: &[&str] = &[
    "Lovelace",
    "Hopper",
    "Liskov",
    "Dijkstra",
    "Knuth",
    "Lamport",
    "Hoare",
    "Allen",
    "Thompson",
    "Ritchie",
    "Perlman",
    "Gray",
    "Stonebraker",
    "Hamilton",
    "Turing",
    "Backus",
];

/// Cities, with their states and zip codes.
pub(crate) const CITIES: &[(&str, &str, &str)] = &[
    ("Austin", "TX", "78701"),
    ("Boston", "MA", "02108"),
    ("Chicago", "IL", "60601"),
    ("Denver", "CO", "80202"),
    ("Portland", "OR", "97201"),
    ("Seattle", "WA", "98101"),
    ("Atlanta", "GA", "30303"),
    ("Phoenix", "AZ", "85001"),
];

/// Streets.
pub(crate) const STREETS: &[&str] =
    &["Main St", "Oak Ave", "Maple Dr", "2nd St", "Lake Rd", "Hill Ct", "Park Pl", "Mill Ln"];

/// The start of all generated times, in milliseconds since 1970: 2023-11-14 22:00 UTC.
pub(crate) const EPOCH_MS: u64 = 1_699_999_200_000;

//! The studies, one file or folder each.

pub mod connected_cars;
pub mod contacts;
pub mod log_data;
pub mod orders;
pub mod recent_operations;
pub mod risk_control;
pub mod shapes;
pub mod time_series;
pub mod trading;
pub mod web_pages;
pub mod web_table;

use crate::error::{Error, Result};
use crate::study::CaseStudy;

/// All studies, in the order of the documents.
pub fn studies() -> Vec<Box<dyn CaseStudy>> {
    vec![
        Box::new(log_data::LogData),
        Box::new(time_series::TimeSeries),
        Box::new(orders::customer_order::CustomerOrder),
        Box::new(orders::customer_plus_plus::CustomerPlusPlus),
        Box::new(orders::order_object::OrderObject),
        Box::new(orders::joins::Joins),
        Box::new(shapes::rows_versions::RowsVersions),
        Box::new(shapes::rows_columns::RowsColumns),
        Box::new(shapes::lists::Lists),
        Box::new(trading::Trading),
        Box::new(risk_control::RiskControl),
        Box::new(connected_cars::ConnectedCars),
        Box::new(recent_operations::RecentOperations),
        Box::new(contacts::Contacts),
        Box::new(web_pages::WebPages),
        Box::new(web_table::WebTable),
    ]
}

/// The study with this name.
///
/// # Errors
/// `Unknown` with the known names.
pub fn study(name: &str) -> Result<Box<dyn CaseStudy>> {
    let mut studies = studies();
    match studies.iter().position(|study| study.name() == name) {
        Some(index) => Ok(studies.swap_remove(index)),
        None => {
            let known: Vec<&str> = studies.iter().map(|study| study.name()).collect();
            Err(Error::Unknown { what: format!("study {name}"), known: known.join(", ") })
        }
    }
}

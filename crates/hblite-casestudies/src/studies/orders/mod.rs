//! Customers and their orders: keys, one table or two, the order as an object, joins.

pub mod customer_order;
pub mod customer_plus_plus;
pub mod joins;
pub mod order_object;

//! A macro that writes the `with_` methods of options.

/// A method for each field that returns the options with that field set.
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    ($options:ident: $($setter:ident sets $field:ident: $value:ty;)*) => {
        impl $options {
            $(
                #[doc = concat!(
                    "Sets [`", stringify!($field), "`](", stringify!($options), "::",
                    stringify!($field), ")."
                )]
                #[must_use]
                #[allow(clippy::useless_conversion, reason = "only some fields are optional")]
                pub fn $setter(mut self, $field: $value) -> Self {
                    self.$field = $field.into();
                    self
                }
            )*
        }
    };
}

//! What the parser makes of a text.

use std::rc::Rc;

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Nil,
    Bool(bool),
    Integer(i64),
    Float(f64),
    String(Vec<u8>),
    /// Text with `#{…}` in it.
    Interpolated(Vec<Piece>),
    /// `/…/`
    Pattern(Vec<u8>),
    Symbol(String),
    Constant(String),
    /// `A::B`
    Scoped(Box<Expression>, String),
    Array(Vec<Expression>),
    Hash(Vec<(Expression, Expression)>),
    Range(Box<Range>),
    Assign(String, Box<Expression>),
    AssignIndex(Box<Expression>, Box<Expression>, Box<Expression>),
    /// A variable that may not have a value yet.
    Variable(String),
    Index(Box<Expression>, Vec<Expression>),
    Call(Box<Call>),
    Binary(&'static str, Box<Expression>, Box<Expression>),
    Negative(Box<Expression>),
    Not(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Sequence(Vec<Expression>),
    If(Box<If>),
    While(Box<While>),
    For(Box<For>),
    Case(Box<Case>),
    Define(Rc<Definition>),
    Begin(Box<Begin>),
    Return(Vec<Expression>),
    Break(Vec<Expression>),
    Next(Vec<Expression>),
    Yield(Vec<Expression>),
}

impl Expression {
    /// The name of the variable that the expression is, if it has nothing else.
    pub(crate) fn variable(&self) -> Option<&str> {
        match self {
            Self::Variable(name) => Some(name),
            Self::Call(call) => {
                let Call { receiver, arguments, block, .. } = &**call;
                let is_name = receiver.is_none() && arguments.is_none() && block.is_none();
                is_name.then_some(&call.name)
            }
            _ => None,
        }
    }

    /// The word, without quotes, that the expression is or begins with.
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Self::Constant(name) => Some(name),
            Self::Call(call) if call.receiver.is_none() => Some(&call.name),
            // A name with a hyphen, without quotes.
            Self::Binary(_, left, _) => left.word(),
            _ => None,
        }
    }
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Text(Vec<u8>),
    Code(Vec<Expression>),
}

/// `first..last`, or `first...last` without the last.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Range {
    pub(crate) first: Expression,
    pub(crate) last: Expression,
    pub(crate) is_open: bool,
}

/// A call of a command or method, or a name alone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) receiver: Option<Expression>,
    /// Whether nothing is called on `nil`: `a&.b`.
    pub(crate) is_safe: bool,
    pub(crate) name: String,
    /// `None` for a name alone, which may be a variable.
    pub(crate) arguments: Option<Vec<Expression>>,
    pub(crate) block: Option<Rc<Block>>,
}

/// `{ |a, b| … }`, `do |a, b| … end`, or `&:name`.
#[derive(Debug, PartialEq)]
pub(crate) enum Block {
    Body { parameters: Vec<Parameter>, body: Vec<Expression> },
    Method(String),
}

/// A parameter of a block: a name, or names of the items of an array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Parameter {
    Name(String),
    Items(Vec<String>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct If {
    pub(crate) condition: Expression,
    pub(crate) then: Vec<Expression>,
    pub(crate) otherwise: Vec<Expression>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct While {
    pub(crate) condition: Expression,
    /// Whether it runs while the condition does not hold.
    pub(crate) is_until: bool,
    pub(crate) body: Vec<Expression>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct For {
    pub(crate) names: Vec<String>,
    pub(crate) list: Expression,
    pub(crate) body: Vec<Expression>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Case {
    pub(crate) subject: Option<Expression>,
    pub(crate) arms: Vec<(Vec<Expression>, Vec<Expression>)>,
    pub(crate) otherwise: Vec<Expression>,
}

/// `def name(a, b = 1) … end`
#[derive(Debug, PartialEq)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) parameters: Vec<(String, Option<Expression>)>,
    pub(crate) body: Vec<Expression>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Begin {
    pub(crate) body: Vec<Expression>,
    pub(crate) rescues: Vec<Rescue>,
    pub(crate) otherwise: Vec<Expression>,
    pub(crate) ensure: Vec<Expression>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rescue {
    pub(crate) classes: Vec<Expression>,
    pub(crate) name: Option<String>,
    pub(crate) body: Vec<Expression>,
}

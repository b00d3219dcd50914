//! Interprets the content of a page: which character is where.

use std::collections::HashSet;
use std::rc::Rc;

use hayro_font::kurbo::{Affine, Point, Vec2};
use hayro_syntax::content::UntypedIter;
use hayro_syntax::object::{Array, Dict, Name, Number, Object, ObjectIdentifier, Stream, String as Text};
use hayro_syntax::page::{Page, Resources};

use super::font::Fonts;
use super::text_string;

/// Forms in forms.
const MAX_DEPTH: usize = 20;
/// Saved states, and marks that are open.
const MAX_STACK: usize = 1_000;
/// Bytes of content that are interpreted for a file: a form can be drawn many times.
const MAX_BYTES: usize = 400 << 20;

/// A character on a page. Its coordinates are those of a page that is turned until the text is upright.
#[derive(Debug, Clone)]
pub(super) struct Glyph {
    /// Start and end along the line.
    pub(super) x: f64,
    pub(super) end: f64,
    /// The line's distance from the top.
    pub(super) y: f64,
    pub(super) size: f64,
    /// Degrees by which its line is turned.
    pub(super) turn: i16,
    pub(super) font: usize,
    pub(super) text: Rc<str>,
}

/// Reads the pages of a file.
pub(super) struct Interpreter<'a> {
    pub(super) fonts: Fonts<'a>,
    /// Layers that are not shown.
    hidden_layers: HashSet<ObjectIdentifier>,
    bytes_left: usize,
    /// Characters that are drawn, but whose letters the file does not tell.
    pub(super) unknown: usize,
    glyphs: Vec<Glyph>,
    max_glyphs: usize,
    marks: Vec<Mark>,
}

#[derive(Clone)]
struct State {
    matrix: Affine,
    font: Option<usize>,
    size: f64,
    character_space: f64,
    word_space: f64,
    /// Horizontal scaling, 1 for none.
    stretch: f64,
    leading: f64,
    rise: f64,
    text: Affine,
    line: Affine,
}

/// An open mark around content.
struct Mark {
    is_hidden: bool,
    /// The text that replaces the characters inside.
    replacement: Option<Rc<str>>,
}

impl<'a> Interpreter<'a> {
    pub(super) fn new(catalog: Option<&Dict<'_>>, max_glyphs: usize) -> Self {
        Self {
            fonts: Fonts::new(),
            hidden_layers: catalog.map(hidden_layers).unwrap_or_default(),
            bytes_left: MAX_BYTES,
            unknown: 0,
            glyphs: Vec::new(),
            max_glyphs,
            marks: Vec::new(),
        }
    }

    /// The characters of a page in the order in which they are drawn; `None` if it cannot be read.
    pub(super) fn page(&mut self, page: &Page<'a>) -> Option<Vec<Glyph>> {
        self.glyphs.clear();
        self.marks.clear();
        let matrix = Affine::new(page.initial_transform(true).as_coeffs());
        let content = page.page_stream();
        let has_content = page.raw().contains_key(b"Contents".as_slice());
        if let Some(content) = content {
            self.run(content, page.resources(), State::new(matrix), 0);
        }
        (content.is_some() || !has_content).then(|| std::mem::take(&mut self.glyphs))
    }

    fn run(&mut self, content: &[u8], resources: &Resources<'a>, mut state: State, depth: usize) {
        if content.len() > self.bytes_left {
            return;
        }
        self.bytes_left -= content.len();
        let open = self.marks.len();
        let mut saved: Vec<State> = Vec::new();
        let mut operations = UntypedIter::new(content);
        while let Some(operation) = operations.next() {
            let operands = Operands(operation.operands().collect());
            match &**operation.operator {
                b"q" if saved.len() < MAX_STACK => saved.push(state.clone()),
                b"Q" => state = saved.pop().unwrap_or(state),
                b"cm" => {
                    if let Some(matrix) = operands.matrix() {
                        state.matrix *= matrix;
                    }
                }
                b"BT" => (state.text, state.line) = (Affine::IDENTITY, Affine::IDENTITY),
                b"Tf" => {
                    state.size = operands.number(1);
                    state.font = match operands.name(0).map(|name| resources.get_font(name)) {
                        Some(Some(dict)) => self.fonts.number(&dict),
                        _ => self.fonts.fallback(),
                    };
                }
                b"gs" => self.set_state(&operands, resources, &mut state),
                b"Tc" => state.character_space = operands.number(0),
                b"Tw" => state.word_space = operands.number(0),
                b"Tz" => state.stretch = operands.number(0) / 100.0,
                b"TL" => state.leading = operands.number(0),
                b"Ts" => state.rise = operands.number(0),
                b"Td" => state.next_line(operands.number(0), operands.number(1)),
                b"TD" => {
                    state.leading = -operands.number(1);
                    state.next_line(operands.number(0), operands.number(1));
                }
                b"Tm" => {
                    if let Some(matrix) = operands.matrix() {
                        (state.text, state.line) = (matrix, matrix);
                    }
                }
                b"T*" => state.next_line(0.0, -state.leading),
                b"Tj" => self.show(operands.string(0), &mut state),
                b"'" => {
                    state.next_line(0.0, -state.leading);
                    self.show(operands.string(0), &mut state);
                }
                b"\"" => {
                    (state.word_space, state.character_space) = (operands.number(0), operands.number(1));
                    state.next_line(0.0, -state.leading);
                    self.show(operands.string(2), &mut state);
                }
                b"TJ" => self.show_with_gaps(&operands, &mut state),
                b"BDC" | b"BMC" => self.begin_mark(&operands, resources),
                b"EMC" if self.marks.len() > open => _ = self.marks.pop(),
                b"Do" => {
                    if let Some(form) = operands.name(0).and_then(|name| resources.get_x_object(name)) {
                        self.form(&form, resources, &state, depth);
                    }
                }
                _ => {}
            }
        }
        self.marks.truncate(open);
    }

    fn form(&mut self, form: &Stream<'a>, resources: &Resources<'a>, state: &State, depth: usize) {
        let dict = form.dict();
        let is_form = dict
            .get::<Name<'_>>(b"Subtype".as_slice())
            .is_some_and(|kind| kind.as_str() == "Form");
        let is_hidden = dict
            .get_ref(b"OC".as_slice())
            .is_some_and(|layer| self.hides(layer.into()));
        if !is_form || is_hidden || depth >= MAX_DEPTH {
            return;
        }
        let Ok(content) = form.decoded_data() else {
            return;
        };
        let own = dict.get::<Dict<'a>>(b"Resources".as_slice()).map(Resources::new);
        let mut inside = state.clone();
        if let Some(matrix) = dict.get::<[f64; 6]>(b"Matrix".as_slice()) {
            inside.matrix *= Affine::new(matrix);
        }
        self.run(&content, own.as_ref().unwrap_or(resources), inside, depth + 1);
    }

    fn set_state(&mut self, operands: &Operands<'_, '_>, resources: &Resources<'a>, state: &mut State) {
        let font = operands
            .name(0)
            .and_then(|name| resources.get_ext_g_state(name))
            .and_then(|dict| dict.get::<Array<'a>>(b"Font".as_slice()));
        if let Some(font) = font {
            let mut parts = font.flex_iter();
            if let (Some(dict), Some(size)) = (parts.next::<Dict<'a>>(), parts.next::<f64>()) {
                (state.font, state.size) = (self.fonts.number(&dict), size);
            }
        }
    }

    fn begin_mark(&mut self, operands: &Operands<'_, '_>, resources: &Resources<'a>) {
        if self.marks.len() >= MAX_STACK {
            return;
        }
        let tag = operands.name(0).map(Name::as_str).unwrap_or_default();
        let replacement = match operands.0.get(1) {
            Some(Object::Name(name)) => resources
                .properties
                .get::<Dict<'_>>(name)
                .as_ref()
                .and_then(actual_text),
            Some(Object::Dict(dict)) => actual_text(dict),
            _ => None,
        };
        let layer = operands.name(1).and_then(|name| resources.properties.get_ref(name));
        let is_hidden = tag == "OC" && layer.is_some_and(|layer| self.hides(layer.into()));
        let outer = self.marks.last();
        self.marks.push(Mark {
            is_hidden: is_hidden || outer.is_some_and(|outer| outer.is_hidden),
            replacement: replacement
                .filter(|_| tag == "Span")
                .or_else(|| outer.and_then(|outer| outer.replacement.clone())),
        });
    }

    fn hides(&self, layer: ObjectIdentifier) -> bool {
        self.hidden_layers.contains(&layer)
    }

    fn show_with_gaps(&mut self, operands: &Operands<'_, '_>, state: &mut State) {
        let Some(Object::Array(parts)) = operands.0.first() else {
            return;
        };
        for part in parts.iter::<Object<'_>>() {
            match part {
                Object::Number(gap) => {
                    let shift = -gap.as_f64() / 1000.0 * state.size;
                    let is_horizontal = state.font.is_none_or(|font| self.fonts.get(font).is_horizontal());
                    state.text *= match is_horizontal {
                        true => Affine::translate((shift * state.stretch, 0.0)),
                        false => Affine::translate((0.0, shift)),
                    };
                }
                Object::String(text) => self.show(Some(text.as_bytes()), state),
                _ => {}
            }
        }
    }

    fn show(&mut self, text: Option<&[u8]>, state: &mut State) {
        if state.font.is_none() {
            state.font = self.fonts.fallback();
        }
        let (Some(bytes), Some(number)) = (text, state.font) else {
            return;
        };
        let mut at = 0;
        while at < bytes.len() {
            let font = self.fonts.get(number);
            let is_horizontal = font.is_horizontal();
            let (code, length) = font.read(bytes, at);
            let is_blank = length == 1 && bytes[at] == b' ';
            at += length;
            let code = font.code(code);
            let place = state.matrix * state.text * Affine::translate((0.0, state.rise));
            let advance = match is_horizontal {
                true => code.width * state.size * state.stretch,
                false => code.height * state.size,
            };
            let is_hidden = self.marks.last().is_some_and(|mark| mark.is_hidden);
            if !is_hidden && self.glyphs.len() < self.max_glyphs {
                let text = self.replaced(code.text);
                self.add(place, advance, state.size, is_horizontal, number, text);
            }
            let space = state.character_space + if is_blank { state.word_space } else { 0.0 };
            state.text *= match is_horizontal {
                true => Affine::translate((advance + space * state.stretch, 0.0)),
                false => Affine::translate((0.0, -(advance + space))),
            };
        }
    }

    /// The text of a character: the first one inside a mark with a replacement gets it, the others become empty.
    fn replaced(&mut self, text: Option<Rc<str>>) -> Rc<str> {
        let innermost = self.marks.last_mut().and_then(|mark| mark.replacement.as_mut());
        if let Some(replacement) = innermost {
            let given = std::mem::replace(replacement, Rc::from(""));
            for mark in &mut self.marks {
                mark.replacement = mark.replacement.as_ref().map(|_| Rc::from(""));
            }
            return given;
        }
        self.unknown += usize::from(text.is_none());
        text.unwrap_or_else(|| Rc::from(""))
    }

    fn add(&mut self, place: Affine, advance: f64, size: f64, is_horizontal: bool, font: usize, text: Rc<str>) {
        let [a, b, c, d, _, _] = place.as_coeffs();
        let (along, up) = match is_horizontal {
            true => (Vec2::new(a, b), Vec2::new(c, d)),
            // Written downwards: the line goes where a character's foot is.
            false => (Vec2::new(-c, -d), Vec2::new(a, b)),
        };
        let size = (size * up.hypot()).abs();
        let scale = along.hypot();
        if !(scale.is_finite() && size.is_finite() && scale > 0.0 && size > 0.0) {
            return;
        }
        let degrees = along.y.atan2(along.x).to_degrees();
        // Slightly turned text is that of a page that was scanned askew.
        let turn = if degrees.abs() < 5.0 { 0 } else { degrees.round() as i16 };
        let direction = match turn {
            0 => Vec2::new(1.0, 0.0),
            _ => along / scale,
        };
        let origin = place * Point::ZERO;
        let origin = Vec2::new(origin.x, origin.y);
        let x = origin.dot(direction);
        let y = origin.dot(Vec2::new(-direction.y, direction.x));
        let width = advance * scale;
        if !(x.is_finite() && y.is_finite() && width.is_finite()) {
            return;
        }
        self.glyphs.push(Glyph {
            x: x.min(x + width),
            end: x.max(x + width),
            y,
            size,
            turn,
            font,
            text,
        });
    }
}

impl State {
    fn new(matrix: Affine) -> Self {
        Self {
            matrix,
            font: None,
            size: 1.0,
            character_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
            text: Affine::IDENTITY,
            line: Affine::IDENTITY,
        }
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.line *= Affine::translate((x, y));
        self.text = self.line;
    }
}

/// The operands of an operation.
struct Operands<'b, 'a>(Vec<&'b Object<'a>>);

impl<'b, 'a> Operands<'b, 'a> {
    fn number(&self, at: usize) -> f64 {
        match self.0.get(at) {
            Some(Object::Number(number)) => number.as_f64(),
            _ => 0.0,
        }
    }

    fn name(&self, at: usize) -> Option<&'b Name<'a>> {
        match self.0.get(at) {
            Some(Object::Name(name)) => Some(name),
            _ => None,
        }
    }

    fn string(&self, at: usize) -> Option<&'b [u8]> {
        match self.0.get(at) {
            Some(Object::String(text)) => Some(text.as_bytes()),
            _ => None,
        }
    }

    fn matrix(&self) -> Option<Affine> {
        let numbers: Vec<f64> = self
            .0
            .iter()
            .filter_map(|operand| match operand {
                Object::Number(number) => Some(Number::as_f64(number)),
                _ => None,
            })
            .collect();
        Some(Affine::new(numbers.try_into().ok()?))
    }
}

/// The text that a mark puts in place of the characters inside.
fn actual_text(properties: &Dict<'_>) -> Option<Rc<str>> {
    let text = properties.get::<Text<'_>>(b"ActualText".as_slice())?;
    Some(text_string::decode(text.as_bytes()).into())
}

/// The layers that a viewer does not show at first.
fn hidden_layers(catalog: &Dict<'_>) -> HashSet<ObjectIdentifier> {
    let off = catalog
        .get::<Dict<'_>>(b"OCProperties".as_slice())
        .and_then(|properties| properties.get::<Dict<'_>>(b"D".as_slice()))
        .and_then(|shown| shown.get::<Array<'_>>(b"OFF".as_slice()));
    off.into_iter()
        .flat_map(|off| off.raw_iter().collect::<Vec<_>>())
        .filter_map(|layer| layer.as_obj_ref().map(ObjectIdentifier::from))
        .collect()
}

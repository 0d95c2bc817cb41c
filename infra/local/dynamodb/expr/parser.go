package expr

// Limits of one expression: "Constraints" in the developer guide.
const (
	maxExpressionBytes = 4096
	maxOperators       = 300
)

// parser is a recursive-descent parser over the tokens of one expression.
type parser struct {
	kind      string // the request's parameter, for error texts
	src       string
	tokens    []token
	at        int
	operators int
}

func newParser(kind, src string, keywords map[string]tokenKind) (*parser, error) {
	switch {
	case src == "":
		return nil, errorf("Invalid %s: The expression can not be empty;", kind)
	case len(src) > maxExpressionBytes && kind == updateKind:
		return nil, errorf("Invalid %s: Expression size has exceeded the maximum allowed size;", kind)
	case len(src) > maxExpressionBytes:
		return nil, errorf("Invalid %s: Expression size has exceeded the maximum allowed size; expression size: %d", kind, len(src))
	}
	return &parser{kind: kind, src: src, tokens: lex(src, keywords)}, nil
}

func (p *parser) is(kind tokenKind) bool { return p.tokens[p.at].kind == kind }

// take returns the text of the current token and goes on to the next.
func (p *parser) take() string {
	t := p.tokens[p.at]
	p.at++
	return p.src[t.start:t.end]
}

// skip goes on to the next token if the current one is of a kind.
func (p *parser) skip(kind tokenKind) bool {
	if !p.is(kind) {
		return false
	}
	p.at++
	return true
}

func (p *parser) expect(kind tokenKind) (string, error) {
	if !p.is(kind) {
		return "", p.unexpected()
	}
	return p.take(), nil
}

// unexpected refuses the current token. AWS shows it with its neighbours.
func (p *parser) unexpected() error {
	current := p.tokens[p.at]
	text := p.src[current.start:current.end]
	if current.kind == tokenEnd {
		text = "<EOF>"
	}
	from, to := current.start, current.end
	if p.at > 0 {
		from = p.tokens[p.at-1].start
	}
	if p.at+1 < len(p.tokens) && p.tokens[p.at+1].kind != tokenEnd {
		to = p.tokens[p.at+1].end
	} else if current.kind == tokenEnd && p.at > 0 {
		to = p.tokens[p.at-1].end
	}
	return errorf("Invalid %s: Syntax error; token: \"%s\", near: \"%s\"", p.kind, text, p.src[from:to])
}

func (p *parser) redundantParentheses() error {
	return errorf("Invalid %s: The expression has redundant parentheses;", p.kind)
}

// end requires that everything was read, and counts the operators.
func (p *parser) end() error {
	switch {
	case !p.is(tokenEnd):
		return p.unexpected()
	case p.operators > maxOperators:
		return errorf("Invalid %s: The expression contains too many operators; operator count: %d", p.kind, p.operators)
	default:
		return nil
	}
}

// path reads name, #name, path.name, path.#name or path[index].
func (p *parser) path() (*pathOperand, error) {
	step, err := p.pathName()
	if err != nil {
		return nil, err
	}
	path := &pathOperand{raw: []rawStep{step}}
	for {
		switch {
		case p.skip('.'):
			step, err = p.pathName()
		case p.skip('['):
			step, err = p.pathIndex()
		default:
			return path, nil
		}
		if err != nil {
			return nil, err
		}
		path.raw = append(path.raw, step)
	}
}

func (p *parser) pathName() (rawStep, error) {
	kind := p.tokens[p.at].kind
	if kind != tokenIdentifier && kind != tokenName {
		return rawStep{}, p.unexpected()
	}
	return rawStep{text: p.take(), kind: kind}, nil
}

func (p *parser) pathIndex() (rawStep, error) {
	text, err := p.expect(tokenInteger)
	if err != nil {
		return rawStep{}, err
	}
	_, err = p.expect(']')
	return rawStep{text: text, kind: tokenInteger}, err
}

// operand reads a path, a :value, a function or one of them in parentheses;
// it reports whether there were parentheses.
func (p *parser) operand() (_ operand, parenthesised bool, err error) {
	switch kind := p.tokens[p.at].kind; {
	case kind == tokenValue:
		return &valueOperand{name: p.take()}, false, nil
	case kind == tokenIdentifier && p.tokens[p.at+1].kind == '(':
		call, err := p.call()
		return call, false, err
	case kind == tokenIdentifier || kind == tokenName:
		path, err := p.path()
		return path, false, err
	case kind != '(':
		return nil, false, p.unexpected()
	}
	p.at++
	inner, nested, err := p.operand()
	if err != nil {
		return nil, false, err
	}
	if _, err := p.expect(')'); err != nil {
		return nil, false, err
	}
	if nested {
		return nil, false, p.redundantParentheses()
	}
	return inner, true, nil
}

func (p *parser) call() (*callOperand, error) {
	p.operators++
	call := &callOperand{name: p.take()}
	var err error
	call.args, err = p.list()
	return call, err
}

// list reads ( operand, … ), at least one.
func (p *parser) list() ([]operand, error) {
	if _, err := p.expect('('); err != nil {
		return nil, err
	}
	var list []operand
	for {
		o, _, err := p.operand()
		if err != nil {
			return nil, err
		}
		list = append(list, o)
		if p.skip(',') {
			continue
		}
		_, err = p.expect(')')
		return list, err
	}
}

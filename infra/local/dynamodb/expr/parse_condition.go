package expr

// parsed is a condition, an operand, or a function, which is both until what
// follows decides. Reading both with one grammar keeps "((((a" from being read
// twice at each parenthesis.
type parsed struct {
	condition     condition
	operand       operand
	parenthesised bool
}

func (p *parser) condition() (condition, error) {
	c, err := p.disjunction()
	if err != nil {
		return nil, err
	}
	if c.condition == nil {
		return nil, p.unexpected()
	}
	return c.condition, p.end()
}

func (p *parser) disjunction() (parsed, error) {
	return p.binary(tokenOr, p.conjunction)
}

func (p *parser) conjunction() (parsed, error) {
	return p.binary(tokenAnd, p.negation)
}

// binary reads next OP next OP next …, which groups to the left.
func (p *parser) binary(operator tokenKind, next func() (parsed, error)) (parsed, error) {
	left, err := next()
	if err != nil {
		return parsed{}, err
	}
	for p.is(operator) {
		if left.condition == nil {
			return parsed{}, p.unexpected()
		}
		p.at++
		p.operators++
		right, err := next()
		if err != nil {
			return parsed{}, err
		}
		if right.condition == nil {
			return parsed{}, p.unexpected()
		}
		left = parsed{condition: &logical{or: operator == tokenOr, a: left.condition, b: right.condition}}
	}
	return left, nil
}

func (p *parser) negation() (parsed, error) {
	if !p.skip(tokenNot) {
		return p.primary()
	}
	p.operators++
	inner, err := p.negation()
	if err != nil {
		return parsed{}, err
	}
	if inner.condition == nil {
		return parsed{}, p.unexpected()
	}
	return parsed{condition: &negation{inner.condition}}, nil
}

func (p *parser) primary() (parsed, error) {
	if p.skip('(') {
		return p.group()
	}
	o, _, err := p.operand()
	if err != nil {
		return parsed{}, err
	}
	return p.comparisonOf(o, false)
}

// group reads what follows an opening parenthesis.
func (p *parser) group() (parsed, error) {
	inner, err := p.disjunction()
	if err != nil {
		return parsed{}, err
	}
	if _, err := p.expect(')'); err != nil {
		return parsed{}, err
	}
	if inner.parenthesised {
		return parsed{}, p.redundantParentheses()
	}
	if inner.operand != nil {
		return p.comparisonOf(inner.operand, true)
	}
	return parsed{condition: inner.condition, parenthesised: true}, nil
}

// comparisonOf reads the rest of a comparison that starts with a. Without one
// a stands for itself, and is a condition only if it is a function.
func (p *parser) comparisonOf(a operand, parenthesised bool) (parsed, error) {
	var c condition
	var err error
	if op, ok := comparators[p.tokens[p.at].kind]; ok {
		c, err = p.comparison(a, op)
	} else if p.is(tokenBetween) {
		c, err = p.between(a)
	} else if p.is(tokenIn) {
		c, err = p.membership(a)
	} else {
		call, _ := a.(*callOperand)
		result := parsed{operand: a, parenthesised: parenthesised}
		if call != nil {
			result.condition = call
		}
		return result, nil
	}
	return parsed{condition: c}, err
}

func (p *parser) comparison(a operand, op Operator) (condition, error) {
	p.at++
	p.operators++
	b, _, err := p.operand()
	return &comparison{op: op, a: a, b: b}, err
}

func (p *parser) between(a operand) (condition, error) {
	p.at++
	p.operators++
	low, _, err := p.operand()
	if err != nil {
		return nil, err
	}
	if _, err := p.expect(tokenAnd); err != nil {
		return nil, err
	}
	high, _, err := p.operand()
	return &between{a: a, low: low, high: high}, err
}

func (p *parser) membership(a operand) (condition, error) {
	p.at++
	p.operators++
	list, err := p.list()
	return &membership{a: a, list: list}, err
}

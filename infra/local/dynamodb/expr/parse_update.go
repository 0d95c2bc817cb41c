package expr

var sections = map[tokenKind]section{
	tokenSet: sectionSet, tokenRemove: sectionRemove, tokenAdd: sectionAdd, tokenDelete: sectionDelete,
}

// update reads all sections. A section that comes twice is returned, too: AWS
// looks for mistakes in the actions first.
func (p *parser) update() (actions []*action, repeated section, err error) {
	seen := map[section]bool{}
	for {
		s, ok := sections[p.tokens[p.at].kind]
		if !ok {
			return nil, "", p.unexpected()
		}
		p.at++
		if seen[s] && repeated == "" {
			repeated = s
		}
		seen[s] = true
		for more := true; more; more = p.skip(',') {
			a, err := p.action(s)
			if err != nil {
				return nil, "", err
			}
			actions = append(actions, a)
		}
		if p.is(tokenEnd) {
			return actions, repeated, p.end()
		}
	}
}

func (p *parser) action(s section) (*action, error) {
	target, err := p.path()
	if err != nil {
		return nil, err
	}
	a := &action{section: s, target: target}
	switch s {
	case sectionSet:
		if _, err := p.expect('='); err != nil {
			return nil, err
		}
		_, err = p.setValue(a)
	case sectionAdd, sectionDelete:
		var name string
		name, err = p.expect(tokenValue)
		a.a = &valueOperand{name: name}
	case sectionRemove:
	}
	return a, err
}

// setValue reads operand, operand + operand, operand - operand or one of them
// in parentheses; it reports whether there were parentheses.
func (p *parser) setValue(a *action) (parenthesised bool, err error) {
	if p.skip('(') {
		nested, err := p.setValue(a)
		if err != nil {
			return false, err
		}
		if _, err := p.expect(')'); err != nil {
			return false, err
		}
		if nested {
			return false, p.redundantParentheses()
		}
		parenthesised = true
	} else if a.a, _, err = p.operand(); err != nil {
		return false, err
	}
	if a.arithmetic != 0 || !p.is('+') && !p.is('-') {
		return parenthesised, nil
	}
	a.arithmetic = byte(p.tokens[p.at].kind)
	p.at++
	p.operators++
	a.b, _, err = p.operand()
	return false, err
}

// projection reads a comma-separated list of paths.
func (p *parser) projection() ([]*pathOperand, error) {
	var paths []*pathOperand
	for more := true; more; more = p.skip(',') {
		path, err := p.path()
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, p.end()
}

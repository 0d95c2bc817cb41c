package action

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

// packageJSON is a package.json that is being changed. It is read once, however many packages are put into it.
type packageJSON struct {
	text string
	root jsonObject
	// there are the sections' members of the packages that are asked for.
	there map[string]map[string]jsonMember
	// first is the section that new packages go into, if there is one; added are they, in its order with its names.
	first   jsonObject
	exists  bool
	added   []newMember
	splices []splice
}

// newMember is a member that is put in front of the one at its place; behind the last one if there is none.
type newMember struct {
	at          int
	name, value string
}

// splice puts a text in the place of what is from start to end.
type splice struct {
	start, end int
	text       string
}

func readPackageJSON(text string, packages []dependency) (*packageJSON, error) {
	root, err := readJSONObject(text)
	if err != nil {
		return nil, err
	}
	p := &packageJSON{text: text, root: root, there: map[string]map[string]jsonMember{}}
	asked := map[string]bool{}
	for _, d := range packages {
		asked[d.name] = true
	}
	for i, name := range npmSections {
		m, ok := root.member(name)
		if !ok {
			continue
		}
		section, err := m.object(text)
		if err != nil {
			return nil, errors.New("its " + name + " is not an object")
		}
		p.there[name] = map[string]jsonMember{}
		for _, m := range section.members {
			if asked[m.name] {
				p.there[name][m.name] = m
			}
		}
		if i == 0 {
			p.first, p.exists = section, true
		}
	}
	return p, nil
}

// put gives a package its range, where it is or as a new one.
func (p *packageJSON) put(d dependency) error {
	for _, name := range npmSections {
		m, ok := p.there[name][d.name]
		switch {
		case !ok:
		case d.version == "":
			return nil
		case p.text[m.value] != '"':
			return errors.New("its " + name + " has something else than a text for " + d.name)
		default:
			p.splices = append(p.splices, splice{m.value, m.end, quoted(d.version)})
			return nil
		}
	}
	p.added = append(p.added, newMember{name: d.name, value: quoted(cmp.Or(d.version, anyNpm))})
	return nil
}

// written is the text with everything that was put into it.
func (p *packageJSON) written() string {
	switch {
	case len(p.added) == 0:
	case !p.exists:
		p.splices = append(p.splices, p.root.insert(p.text, p.root.indexOf("devDependencies"), npmSections[0], p.newSection()))
	case len(p.first.members) == 0:
		p.splices = append(p.splices, splice{p.first.start, p.first.end, p.newSection()})
	default:
		p.insertAll()
	}
	slices.SortStableFunc(p.splices, func(a, b splice) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	at := 0
	for _, s := range p.splices {
		b.WriteString(p.text[at:s.start])
		b.WriteString(s.text)
		at = s.end
	}
	b.WriteString(p.text[at:])
	return b.String()
}

// byName sorts new members among themselves.
func byName(a, b newMember) int { return strings.Compare(a.name, b.name) }

// insertAll puts the new packages where they belong among names in order; behind the last one if they are in none.
func (p *packageJSON) insertAll() {
	names := make([]string, len(p.first.members))
	for i, m := range p.first.members {
		names[i] = m.name
	}
	if slices.IsSorted(names) {
		slices.SortFunc(p.added, byName)
		for i, m := range p.added {
			p.added[i].at, _ = slices.BinarySearch(names, m.name)
		}
	} else {
		for i := range p.added {
			p.added[i].at = len(names)
		}
	}
	for _, m := range p.added {
		p.splices = append(p.splices, p.first.insert(p.text, m.at, m.name, m.value))
	}
}

// newSection is an object with just the new packages, laid out as the members of the root are.
func (p *packageJSON) newSection() string {
	slices.SortFunc(p.added, byName)
	space, colon := p.root.layout(p.text)
	var members []string
	for _, m := range p.added {
		members = append(members, deeper(space)+quoted(m.name)+colon+m.value)
	}
	return "{" + strings.Join(members, ",") + space + "}"
}

package scaffold

import (
	"path"
	"regexp"
	"slices"
	"strings"

	projectpath "devplatform/shared/project/path"
)

// clauses reads all clauses after the piece.
func (p *parser) clauses(r *request) error {
	for !p.done() {
		start := p.at
		p.word(",")
		ok, err := p.clause(r)
		if err != nil {
			return err
		}
		if !ok {
			p.at = start
			return nil
		}
	}
	return nil
}

// clause reads one clause. ok is false if there is none.
func (p *parser) clause(r *request) (ok bool, err error) {
	if n, _ := phrase(p, closingWords); n > 0 {
		return false, nil
	}
	if p.frameworkFollows() {
		p.at++
		if r.framework != "" {
			return true, p.refuse()
		}
		r.framework, _ = take(p, frameworks)
		return true, nil
	}
	switch {
	case p.word("called", "named", "titled") != "":
		return true, p.name(r)
	case p.word("with", "having", "containing") != "":
		return true, p.fields(r)
	case p.word("of", "for") != "":
		return true, p.records(r)
	}
	return false, nil
}

// frameworkFollows reports whether a preposition and a framework follow.
func (p *parser) frameworkFollows() bool {
	start := p.at
	defer func() { p.at = start }()
	if p.word("in", "for", "with", "using") == "" {
		return false
	}
	n, _ := phrase(p, frameworks)
	return n > 0
}

var (
	nameText    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*([ _-][A-Za-z0-9]+){0,5}$`)
	capitalized = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
)

// name reads a quoted text, a word, or several capitalized words.
func (p *parser) name(r *request) error {
	if p.done() || r.piece == starter || r.piece == endpoint || r.name != "" {
		return p.refuse()
	}
	first := p.tokens[p.at]
	if len(first.text) > 60 || !nameText.MatchString(first.text) || (!first.quoted && reservedWords[first.low]) {
		return p.refuse()
	}
	p.at++
	r.name = first.text
	for !first.quoted && capitalized.MatchString(first.text) && !p.done() {
		t := p.tokens[p.at]
		if t.quoted || reservedWords[t.low] || !capitalized.MatchString(t.text) {
			break
		}
		r.name += " " + t.text
		p.at++
	}
	return nil
}

// takesRecords are the pieces that can show or store records.
var takesRecords = map[piece]bool{form: true, list: true, table: true, endpoint: true}

// records reads the noun after "of" or "for". It must be a plural, and must come before the fields. "for" can also say
// who uses the piece, so that only some nouns can follow it.
func (p *parser) records(r *request) error {
	isFor := p.tokens[p.at-1].low == "for" && r.piece != endpoint
	p.skip(determinerWords)
	if p.done() || !takesRecords[r.piece] || r.topic != "" || r.records != "" || r.fields != nil {
		return p.refuse()
	}
	noun := p.tokens[p.at]
	isPlural := plural(singular(noun.low)) == noun.low && singular(noun.low) != noun.low
	if noun.quoted || len(noun.low) > 30 || !isWord(noun.low) || !isPlural || reservedWords[noun.low] ||
		(isFor && !recordNouns[noun.low]) {
		return p.refuse()
	}
	r.records = noun.low
	p.at++
	return nil
}

func isWord(s string) bool { return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == "" }

// fields reads the list after "with". A single word without "field" may be something else: "a table with a total".
func (p *parser) fields(r *request) error {
	if !takesRecords[r.piece] {
		p.at--
		return p.refuse()
	}
	p.word("the")
	p.word("following")
	marked := p.word("fields", "columns", "field", "column") != ""
	p.word(":")
	for {
		if err := p.field(r, marked); err != nil {
			return err
		}
		if p.separator() {
			continue
		}
		if !marked && r.topic == "" && len(r.fields) == 1 {
			return refusef("Name at least two fields, or say “with the field …”. An example: “%s”.", examples[r.piece])
		}
		return nil
	}
}

// separator consumes a comma, "and", or both, if another field follows.
func (p *parser) separator() bool {
	start := p.at
	p.word(",")
	p.word("and", "&")
	if p.at == start {
		return false
	}
	n, _ := phrase(p, closingWords)
	if n > 0 || p.done() || p.frameworkFollows() || p.word("called", "named", "titled", "with") != "" {
		p.at = start
		return false
	}
	return true
}

// field reads one field. A name that is not in fieldTypes is accepted only after "fields" or "columns".
func (p *parser) field(r *request, marked bool) error {
	p.word("a", "an", "the")
	if r.piece == form {
		if _, ok := take(p, fieldlessWords); ok { // all forms validate, and have a button
			return nil
		}
	}
	f := field{Optional: p.word("optional", "required") == "optional"}
	n, kind := phrase(p, fieldTypes)
	if n == 0 {
		if !marked || p.done() || !isFieldName(p.tokens[p.at]) {
			return p.refuse()
		}
		n, kind = 1, "text"
		next := &parser{tokens: p.tokens, at: p.at + 1}
		if m, k := phrase(next, fieldTypes); m > 0 && fieldAdjectives[p.tokens[p.at].low] { // such as "shipping address"
			n, kind = m+1, k
		}
	}
	var words []string
	for _, t := range p.tokens[p.at : p.at+n] {
		words = append(words, strings.FieldsFunc(t.low, func(r rune) bool { return r == '-' || r == '_' })...)
	}
	f.words, f.Type = words, kind
	p.at += n
	if err := p.fieldType(&f); err != nil {
		return err
	}
	p.word("field", "fields", "column", "columns", "input", "inputs")
	f.complete(r.topic)
	if slices.ContainsFunc(r.fields, func(g field) bool { return g.Key == f.Key }) {
		return refusef("The field “%s” occurs twice.", f.Label)
	}
	if r.fields = append(r.fields, f); len(r.fields) > 12 {
		return refusef("I accept at most 12 fields.")
	}
	return nil
}

// isFieldName reports whether the word can be a field that the vocabulary does not have. Words with the endings of
// adjectives and participles cannot, because they often describe behavior, as in "columns sortable by name".
func isFieldName(t token) bool {
	for _, ending := range []string{"able", "ible", "ed", "ly", "ing"} {
		if strings.HasSuffix(t.low, ending) && !fieldAdjectives[t.low] {
			return false
		}
	}
	return !t.quoted && len(t.low) <= 30 && isWord(t.low) && !reservedWords[t.low] && !notFields[t.low] &&
		!notFields[singular(t.low)]
}

// fieldType reads a type or "optional" in parentheses.
func (p *parser) fieldType(f *field) error {
	if p.word("(") == "" {
		return nil
	}
	switch p.word("optional", "required") {
	case "optional":
		f.Optional = true
	case "":
		kind, ok := take(p, typeNames)
		if !ok {
			return p.refuse()
		}
		f.Type = kind
	}
	if p.word(")") == "" {
		return p.refuse()
	}
	return nil
}

var npmPackage = regexp.MustCompile(`^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*(@[\^~]?[a-z0-9.*-]+)?$`)

// change reads the rest of a request that renames, deletes or installs.
func (p *parser) change(kind piece) (r request, err error) {
	r.piece = kind
	if kind == install {
		err = p.packages(&r)
	} else if r.path, err = p.path(); err == nil && kind == rename {
		if p.word("to") == "" {
			return r, p.refuse()
		}
		if r.to, err = p.path(); err == nil && path.Dir(r.path) != "/" && r.to != p.tokens[p.at-1].text {
			p.at--
			return r, p.refuse() // "rename /src/a.js to b.js" can mean /src/b.js
		}
	}
	return r, err
}

// packages reads the rest of "npm install zod". A package without a range gets the tag that npm uses.
func (p *parser) packages(r *request) error {
	for first := true; first || p.separator(); first = false {
		if p.done() || !npmPackage.MatchString(p.tokens[p.at].text) || englishWords[p.tokens[p.at].low] {
			return p.refuse()
		}
		name := p.tokens[p.at].text
		if strings.LastIndex(name, "@") < 1 {
			name += "@latest"
		}
		r.packages = append(r.packages, name)
		p.at++
	}
	return nil
}

// path reads an absolute path, or the name of a file in the root, such as index.html.
func (p *parser) path() (string, error) {
	p.word("the")
	p.word("file")
	if p.done() {
		return "", p.refuse()
	}
	name := p.tokens[p.at].text
	if !strings.Contains(name, "/") && path.Ext(name) != "" {
		name = "/" + name
	}
	if !strings.HasPrefix(name, "/") || projectpath.CheckNew(name) != "" {
		return "", p.refuse()
	}
	p.at++
	return name, nil
}

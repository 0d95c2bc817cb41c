package scaffold

import (
	"slices"
	"strings"

	"devplatform/shared/assistant/scaffold/blueprint"
)

// request is one thing that a prompt asks for, its words sorted by what they are.
type request struct {
	verb verb
	// inherited says that the verb is the one of the request before: "delete a.ts and b.ts".
	inherited bool
	// moves says that the verb was "move".
	moves bool
	// head are the words up to the first preposition: "a user profile page".
	head []word
	// tail is the rest, by the preposition that leads to it.
	tail []clause
	// all are its words without what is polite, for those who read it in their own way.
	all []word
	// linked says that only a comma or "and" divides it from the request before.
	linked bool
	// kind is that of its own words; nil if they have none.
	kind *thing
}

// clause is a preposition and what belongs to it.
type clause struct {
	lead  lead
	words []word
}

// lead is what a clause says of the thing.
type lead uint8

const (
	leadName  lead = iota // called X
	leadWith              // with these fields
	leadFor               // for X, of X
	leadDo                // to do X, that does X
	leadShow              // showing X, that lists X
	leadOther             // in X, using X
)

// requestsOf takes the words of a prompt apart into requests.
func requestsOf(words []word) []request {
	var out []request
	for _, part := range partsOf(words) {
		var before *request
		if len(out) > 0 {
			before = &out[len(out)-1]
		}
		if before != nil && belongs(part, before) {
			before.goOn(part)
			continue
		}
		out = append(out, newRequest(part, before))
	}
	return slices.DeleteFunc(out, func(r request) bool {
		alone := r.verb == explainVerb || r.verb == removeVerb || r.verb == renameVerb || r.verb == installVerb // "delete" is asked back
		return len(r.all) == 0 && !alone
	})
}

// newRequest reads the verb and sorts the rest.
func newRequest(part []word, before *request) request {
	linked := before != nil && part[0].before < stop
	v, rest := stripVerb(part)
	r := request{verb: v, linked: linked}
	if v == renameVerb {
		r.moves = part[len(part)-len(rest)-1].low != "rename"
	}
	if v == noVerb && before != nil && (linked || part[0].bullet) {
		r.verb, r.inherited, r.moves = before.verb, true, before.moves
	}
	r.extend(rest)
	return r
}

// stripVerb takes polite words and the verb off the front.
func stripVerb(part []word) (verb, []word) {
	rest := part
	if asksLeave(part) {
		return askVerb, part
	}
	if rest[0].is(orders) && (len(rest) == 1 || verbOf(rest[1]) != noVerb || rest[1].is(polite)) {
		rest = rest[1:]
	}
	for len(rest) > 0 && rest[0].is(polite) && !means(rest, "get", "rid") && !means(rest, "go", "get") && !rest[0].tech {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return noVerb, nil
	}
	switch {
	case means(rest, "go", "get"):
		return installVerb, rest[2:]
	case means(rest, "set", "up"):
		return makeVerb, rest[2:]
	case means(rest, "get", "rid", "of"):
		return removeVerb, rest[3:]
	}
	v := verbOf(rest[0])
	switch {
	case v == noVerb:
		return noVerb, rest
	case v == testVerb && !isObject(rest[1:]):
		return noVerb, rest // a noun: test for the Button
	case v == makeVerb && rest[0].low == "design" && len(rest) > 1 && rest[1].low == "system":
		return noVerb, rest
	}
	return v, rest[1:]
}

// asksLeave reports a question whether something may be done, which is no request to do it.
func asksLeave(part []word) bool {
	if len(part) < 3 || !part[0].is(setOf("can should may could must shall would do")) || !part[1].is(setOf("i we")) {
		return false
	}
	return verbOf(part[2]) == removeVerb || verbOf(part[2]) == renameVerb
}

// means reports that words begin with these.
func means(words []word, these ...string) bool {
	if len(words) < len(these) {
		return false
	}
	for i, t := range these {
		if words[i].low != t || words[i].quoted {
			return false
		}
	}
	return true
}

// isObject reports that the words begin like what a verb is done to.
func isObject(rest []word) bool {
	return len(rest) > 0 && (rest[0].is(determiners) || rest[0].is(pronouns) || rest[0].isCamel() || rest[0].isCapital() || rest[0].isPath())
}

// extend adds words to a request.
func (r *request) extend(part []word) {
	r.all = append(r.all, part...)
	for i, w := range part {
		if l, n := leadAt(part[i:], r); n > 0 {
			r.tail = append(r.tail, clause{lead: l})
			continue
		}
		if len(r.tail) == 0 {
			r.head = append(r.head, w)
			continue
		}
		last := &r.tail[len(r.tail)-1]
		last.words = append(last.words, w)
	}
	r.kind = r.headKind()
}

// goOn adds a part that belongs to the request.
func (r *request) goOn(part []word) {
	rest, fields := afterAddition(part)
	if !r.inFields() && (fields || r.awaitsFields()) {
		r.tail = append(r.tail, clause{lead: leadWith})
	}
	r.extend(rest)
}

// awaitsFields reports that the request ended with a colon and is one that has fields.
func (r *request) awaitsFields() bool {
	k := r.kind
	return len(r.all) > 0 && r.all[len(r.all)-1].colon && k != nil && !k.plural && (k.kind == blueprint.Form || k.kind == blueprint.List || k.kind == blueprint.Endpoint)
}

// afterAddition is what stands behind "It should have" or "Fields are"; false if the part does not begin like that.
func afterAddition(part []word) ([]word, bool) {
	addition, fields := isAddition(part), startsFields(part)
	if !addition && !fields {
		return part, false
	}
	for i, w := range part[:min(len(part), 5)] {
		if addition && w.is(haveWords) || fields && w.is(fieldHeads) {
			rest := part[i+1:]
			for len(rest) > 0 && (rest[0].is(setOf("are is should be")) || rest[0].is(fieldHeads)) {
				rest = rest[1:]
			}
			return rest, true
		}
	}
	return part, false
}

// leadAt reports whether a clause begins here.
func leadAt(rest []word, r *request) (lead, int) {
	w := rest[0]
	if w.quoted || w.isPath() {
		return 0, 0
	}
	inFields := r.inFields()
	more := len(rest) > 1
	switch {
	case nameWords.of(w.low):
		return leadName, 1
	case inWords.of(w.low) && inFields:
		if more && namesTarget(rest[1:]) {
			return leadOther, 1
		}
		return 0, 0
	case showWords.of(w.low) && more && len(r.tail) > 0 && r.tail[len(r.tail)-1].lead == leadDo && len(r.tail[len(r.tail)-1].words) == 0 && r.headKind() != nil:
		return leadShow, 1
	case withWords.of(w.low):
		if more && namesTarget(rest[1:]) && (w.low == "with") {
			return leadOther, 1
		}
		return leadWith, 1
	case fieldHeads.of(w.low) && w.colon && !inFields:
		return leadWith, 1
	case inWords.of(w.low):
		return leadOther, 1
	case inFields && (w.low == "for" || w.low == "that" || w.low == "which"):
		return leadOther, 1
	case inFields:
		return 0, 0
	case doWords.of(w.low) && w.low != "for":
		return leadDo, 1
	case w.low == "about" && (r.headKind() == nil || len(r.tail) > 0 && len(r.tail[len(r.tail)-1].words) == 0):
		return 0, 0
	case forWords.of(w.low) && len(r.head)+len(r.tail) > 0:
		return leadFor, 1
	}
	return 0, 0
}

// namesTarget reports that the words begin with a framework, a language or a path: in Vue, in TypeScript, in /src.
func namesTarget(rest []word) bool {
	for len(rest) > 1 && (rest[0].is(determiners) || rest[0].low == "plain") {
		rest = rest[1:]
	}
	w := rest[0]
	_, known := frameworkWords.look(w.low)
	_, maybe := ambiguousFrameworks.look(w.low)
	_, other := otherFrameworks.look(w.low)
	return known || maybe || other || typeScript.of(w.low) || javaScript.of(w.low) || w.isPath() || w.low == "css" || w.low == "tailwind"
}

// inFields reports that the request's words go on as fields.
func (r *request) inFields() bool {
	return len(r.tail) > 0 && (r.tail[len(r.tail)-1].lead == leadWith || r.tail[len(r.tail)-1].lead == leadShow)
}

// hasFields reports that fields were led to.
func (r *request) hasFields() bool {
	return slices.ContainsFunc(r.tail, func(c clause) bool { return c.lead == leadWith || c.lead == leadShow })
}

// headKind is the kind that the head's words name; nil if none. The last kind word says it, weak ones give way.
func (r *request) headKind() *thing {
	var found *thing
	for _, w := range r.head {
		t, ok := thingOf(w)
		if !ok {
			continue
		}
		if found != nil && t.route && found.kind == blueprint.Endpoint {
			continue
		}
		if found != nil && t.weak && !found.weak && found.kind != blueprint.Test {
			t.plural = t.plural || found.plural
			found.plural = t.plural
			continue
		}
		found = &t
	}
	return found
}

// text is the request as it was written, shortened.
func (r *request) text() string {
	parts := make([]string, 0, len(r.all))
	for _, w := range r.all {
		parts = append(parts, w.text)
	}
	return clip(strings.Join(parts, " "), 80)
}

// clip shortens a text to so many characters.
func clip(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return strings.TrimSpace(string(runes[:most-1])) + "…"
}

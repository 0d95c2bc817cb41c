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
	return slices.DeleteFunc(out, func(r request) bool { return len(r.all) == 0 })
}

// partsOf cuts where a comma, a sentence, a line or "and" stands.
func partsOf(words []word) [][]word {
	var parts [][]word
	behind := space
	for i := 0; i < len(words); i++ {
		w := words[i]
		if n := joinerAt(words, i); n > 0 {
			behind = max(behind, w.before, comma)
			i += n - 1
			continue
		}
		w.before, behind = max(w.before, behind), space
		if w.colon && i+1 < len(words) && !isTyping(w, words[i+1]) {
			behind = comma
		}
		if len(parts) == 0 || w.before > space && !(w.before == comma && goesOn(parts[len(parts)-1], w)) {
			parts = append(parts, nil)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], w)
	}
	return slices.Concat(mapEach(parts, splitWith)...)
}

// goesOn reports a gap within a list that is one thing: "simple, responsive", "GET and POST".
func goesOn(part []word, next word) bool {
	last := part[len(part)-1]
	return last.is(adjectives) && next.is(adjectives) || last.method != "" && next.method != ""
}

// splitWith cuts a page or a component off from another thing that it is to have: "a page with a contact form".
func splitWith(part []word) [][]word {
	for i := 1; i+2 < len(part); i++ {
		if !part[i].is(withWords) || !part[i+1].is(determiners) {
			continue
		}
		outer := (&request{head: part[:i]}).headKind()
		if outer == nil {
			if noun, ok := nounIn(part[:i]); ok {
				outer = &noun
			}
		}
		inner := (&request{head: headOf(part[i+1:])}).headKind()
		if outer == nil || inner == nil || inner.kind == blueprint.Utility || outer.kind != blueprint.Page && outer.kind != blueprint.Component {
			return [][]word{part}
		}
		rest := slices.Clone(part[i+1:])
		rest[0].before = comma
		return [][]word{part[:i], rest}
	}
	return [][]word{part}
}

// headOf are the words up to the first preposition.
func headOf(words []word) []word {
	for i, w := range words {
		if w.is(withWords) || w.is(forWords) || w.is(doWords) || w.is(inWords) || named[w.low] {
			return words[:i]
		}
	}
	return words
}

func mapEach[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = f(a)
	}
	return out
}

// isTyping reports a colon between a field and its type: "age: number".
func isTyping(w, next word) bool {
	_, kind := thingOf(w)
	return !kind && !fieldHeads[w.low] && !withWords[w.low] && (typeOnly[next.low] != "" || typeColon[next.low] != "")
}

// joinerAt is how many words at i say "and"; none inside of a pair that is one name.
func joinerAt(words []word, i int) int {
	switch {
	case i+2 < len(words) && words[i].low == "as" && words[i+1].low == "well" && words[i+2].low == "as":
		return 3
	case !words[i].is(joiners):
		return 0
	case i > 0 && i+1 < len(words) && pairs[words[i-1].low] == words[i+1].low:
		return 0
	}
	return 1
}

// newRequest reads the verb and sorts the rest.
func newRequest(part []word, before *request) request {
	linked := before != nil && part[0].before < stop
	v, rest := stripVerb(part)
	r := request{verb: v, linked: linked}
	if v == noVerb && before != nil && (linked || part[0].bullet) {
		r.verb, r.inherited = before.verb, true
	}
	r.extend(rest)
	return r
}

// stripVerb takes polite words and the verb off the front.
func stripVerb(part []word) (verb, []word) {
	rest := part
	if rest[0].is(orders) && (len(rest) == 1 || verbOf(rest[1]) != noVerb || rest[1].is(polite)) {
		rest = rest[1:]
	}
	for len(rest) > 0 && rest[0].is(polite) && !(rest[0].low == "get" && len(rest) > 1 && rest[1].low == "rid") && !(rest[0].low == "go" && len(rest) > 1 && (rest[1].low == "get" || rest[1].is(setOf("endpoint handler api helper client function test")))) {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return noVerb, nil
	}
	if rest[0].low == "go" {
		return installVerb, rest[2:]
	}
	if rest[0].low == "set" && len(rest) > 1 && rest[1].low == "up" {
		return makeVerb, rest[2:]
	}
	if len(rest) > 2 && rest[0].low == "get" && rest[1].low == "rid" && rest[2].low == "of" {
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
	case named[w.low]:
		return leadName, 1
	case inWords[w.low] && inFields:
		if more && namesTarget(rest[1:]) {
			return leadOther, 1
		}
		return 0, 0
	case withWords[w.low], showWords[w.low] && more && r.headKind() != nil && len(r.tail) > 0:
		if more && namesTarget(rest[1:]) && (w.low == "with") {
			return leadOther, 1
		}
		return leadWith, 1
	case fieldHeads[w.low] && w.colon && !inFields:
		return leadWith, 1
	case inWords[w.low]:
		return leadOther, 1
	case inFields && (w.low == "for" || w.low == "that" || w.low == "which"):
		return leadOther, 1
	case inFields:
		return 0, 0
	case doWords[w.low] && w.low != "for":
		return leadDo, 1
	case w.low == "about" && (r.headKind() == nil || len(r.tail) > 0 && len(r.tail[len(r.tail)-1].words) == 0):
		return 0, 0
	case forWords[w.low] && len(r.head)+len(r.tail) > 0:
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
	_, known := frameworkWords[w.low]
	_, maybe := ambiguousFrameworks[w.low]
	_, other := otherFrameworks[w.low]
	return known || maybe || other || typeScript[w.low] || javaScript[w.low] || w.isPath() || w.low == "css" || w.low == "tailwind"
}

// inFields reports that the request's words go on as fields.
func (r *request) inFields() bool {
	return len(r.tail) > 0 && r.tail[len(r.tail)-1].lead == leadWith
}

// hasFields reports that fields were led to.
func (r *request) hasFields() bool {
	return slices.ContainsFunc(r.tail, func(c clause) bool { return c.lead == leadWith })
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

// belongs reports that a part is more of the request before, no request of its own.
func belongs(part []word, before *request) bool {
	if before.verb >= installVerb && before.verb != testVerb {
		return false
	}
	if isAddition(part) {
		return true
	}
	first := part[0]
	awaits := before.awaitsFields() || before.inFields() && before.awaitsBullets()
	if first.before >= stop && !(first.bullet && awaits) {
		return startsFields(part)
	}
	v, rest := stripVerb(part)
	if mergesVerb(v, part, rest, before) {
		return true
	}
	if before.listsFields() && (fieldTypes[first.low] != "" || first.is(determiners) && !hasKind(part)) {
		return true
	}
	inFields := before.inFields() || before.awaitsFields()
	if v != noVerb && (!inFields || isObject(rest) || v != addVerb && hasKind(rest)) {
		return false
	}
	return inFields && !asksAnew(part, before)
}

// listsFields reports a form that is for fields: "a form for name, email and message".
func (r *request) listsFields() bool {
	if r.kind == nil || r.kind.kind != blueprint.Form || len(r.tail) == 0 {
		return false
	}
	last := r.tail[len(r.tail)-1]
	return last.lead == leadFor && len(last.words) > 0 && (last.words[0].low == "name" || fieldTypes[last.words[0].low] != "")
}

// awaitsBullets reports that nothing but items of a list, or nothing at all, follows the word that leads to the fields.
func (r *request) awaitsBullets() bool {
	words := r.tail[len(r.tail)-1].words
	return len(words) == 0 || words[0].bullet
}

// mergesVerb reports that a part's verb is one of an endpoint's methods, not a request: "an endpoint to list and delete users".
func mergesVerb(v verb, part, rest []word, before *request) bool {
	if before.kind == nil || before.kind.kind != blueprint.Endpoint {
		return false
	}
	if part[0].method != "" && verbOf(part[0]) == noVerb && part[0].before < stop {
		return true
	}
	led := slices.ContainsFunc(before.tail, func(c clause) bool { return c.lead == leadDo || c.lead == leadFor })
	bare := len(rest) < 3 && !slices.ContainsFunc(rest, word.isPath) && !hasKind(rest)
	_, crud := crudVerbs[part[0].low]
	return led && bare && crud && v != installVerb
}

// isAddition reports a sentence that goes on about the thing before: "It should have …", "with …".
func isAddition(part []word) bool {
	rest := part
	if rest[0].is(withWords) {
		return len(rest) > 1
	}
	if !rest[0].is(pronouns) && !(rest[0].low == "the" && len(rest) > 2 && hasKind(rest[1:2])) {
		return false
	}
	for _, w := range rest[1:min(len(rest), 5)] {
		if w.is(haveWords) {
			return true
		}
	}
	return false
}

// startsFields reports a line such as "Fields: name, email".
func startsFields(part []word) bool {
	for i, w := range part[:min(len(part), 3)] {
		if w.is(fieldHeads) && (w.colon || i+1 < len(part) && part[i+1].is(setOf("are is should"))) {
			return true
		}
	}
	return false
}

func hasKind(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { _, ok := thingOf(w); return ok })
}

// asksAnew reports that a part of a list of fields is a thing of its own: "and a contact page", "and tests".
func asksAnew(rest []word, before *request) bool {
	if len(rest) == 0 {
		return false
	}
	var kind *thing
	at := 0
	for i, w := range rest {
		if t, ok := thingOf(w); ok {
			kind, at = &t, i
		} else if w.is(forWords) || w.is(withWords) || w.is(doWords) {
			break
		}
	}
	switch {
	case kind == nil:
		return false
	case kind.kind == blueprint.Test:
		return at <= 2
	case kind.kind == blueprint.Utility && kind.utility == "client":
		return false
	}
	article := rest[0].is(determiners)
	return article && (at >= 2 || at == 1 && len(rest) > 2) || rest[0].isCamel() && at == 1 || before.kind != nil && before.kind.plural && at >= 1 && article
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

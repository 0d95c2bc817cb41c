package scaffold

import (
	"slices"

	"devplatform/shared/assistant/scaffold/blueprint"
)

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
		if len(parts) == 0 || w.before > comma || w.before == comma && !goesOn(parts[len(parts)-1], w) {
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
		if w.is(withWords) || w.is(forWords) || w.is(doWords) || w.is(inWords) || nameWords.of(w.low) {
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
	return !kind && !fieldHeads.of(w.low) && !withWords.of(w.low) && (typeOnly.of(next.low) != "" || typeColon.of(next.low) != "")
}

// joinerAt is how many words at i say "and"; none inside of a pair that is one name.
func joinerAt(words []word, i int) int {
	switch {
	case i+2 < len(words) && words[i].low == "as" && words[i+1].low == "well" && words[i+2].low == "as":
		return 3
	case !words[i].is(joiners):
		return 0
	case i > 0 && i+1 < len(words) && pairs.of(words[i-1].low) == words[i+1].low:
		return 0
	}
	return 1
}

package scaffold

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"devplatform/shared/assistant/scaffold/blueprint"
)

// What a name has at most; the blueprints take little more.
const (
	maxNameWords = 6
	maxNameBytes = 60
)

// parts splits a word as a name into lower-case words of letters and digits: UserCard, user-card and user_card are two.
func parts(text string) []string {
	var out []string
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	runes := []rune(norm.NFC.String(text))
	for i, r := range runes {
		switch {
		case r == '\'' || r == '’':
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0:
			after := unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1])
			last := unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1]) // the C of HTTPClient
			if after || last {
				end()
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	end()
	return out
}

// bounded keeps a name short: what is longer is a sentence.
func bounded(words []string) []string {
	var out []string
	size := 0
	for _, w := range words[:min(len(words), maxNameWords)] {
		if size += len(w) + 1; size > maxNameBytes {
			break
		}
		out = append(out, w)
	}
	if len(out) == 0 && len(words) > 0 {
		out = []string{strings.ToValidUTF8(words[0][:maxNameBytes/2], "")}
	}
	return out
}

// nameOf is the name that words spell, without what is no name: articles, adjectives, frameworks, kind words. Where only adjectives
// are left, those are the name.
func nameOf(words []word, keepKinds bool) []string {
	var name, weak []string
	for _, w := range words {
		if w.quoted {
			name = append(name, parts(w.text)...)
			continue
		}
		if w.is(determiners) || w.is(pronouns) || w.is(fillers) && (len(name) == 0 || w.low != "us") || w.low == "of" && len(name) == 0 || w.is(withWords) || w.tech || w.method != "" || strings.Trim(w.low, "/.") == "" {
			continue
		}
		if _, kind := thingOf(w); kind && !keepKinds {
			continue
		}
		if w.is(adjectives) {
			weak = append(weak, parts(w.text)...)
			continue
		}
		if w.isPath() {
			name = append(name, pathName(w.text)...)
			continue
		}
		name = append(name, parts(strings.TrimSuffix(strings.TrimSuffix(w.text, "'s"), "’s"))...)
	}
	if len(name) == 0 {
		return weak
	}
	return name
}

// pathName is the name in a route or a file's path: the last segment that is no parameter, without its extension.
func pathName(path string) []string {
	segments := strings.Split(path, "/")
	for i := len(segments) - 1; i >= 0; i-- {
		s := segments[i]
		if s == "" || strings.ContainsAny(s, ":[{*") {
			continue
		}
		if dot := strings.IndexByte(s, '.'); dot > 0 {
			s = s[:dot]
		}
		return parts(s)
	}
	return nil
}

// isTechnology reports a framework or a language, which is no part of a name.
func isTechnology(words []word, i int) bool {
	w := words[i]
	if w.quoted {
		return false
	}
	if _, ok := frameworkWords.look(w.low); ok || typeScript.of(w.low) || javaScript.of(w.low) || toolWords.of(w.low) {
		return true
	}
	if _, ok := otherFrameworks.look(w.low); ok {
		return true
	}
	_, ok := ambiguousAt(words, i)
	return ok
}

// ambiguousAt is the framework that an everyday word names at i: behind "in", or right before a kind word or another framework.
func ambiguousAt(words []word, i int) (blueprint.Framework, bool) {
	f, ok := ambiguousFrameworks.look(words[i].low)
	if !ok || words[i].quoted {
		return "", false
	}
	if i > 0 && (inWords.of(words[i-1].low) || words[i-1].low == "with") {
		return f, true
	}
	if i > 1 && determiners.of(words[i-1].low) && inWords.of(words[i-2].low) {
		return f, true
	}
	if i+1 == len(words) {
		return "", false
	}
	next := words[i+1]
	if next.before > space {
		return "", false
	}
	if words[i].low == "plain" {
		return f, next.low == "html" || next.low == "js" || next.low == "javascript"
	}
	if _, kind := thingOf(next); kind && (i == 0 || words[i].low != "next" || words[i].text == "Next") {
		return f, true
	}
	_, again := ambiguousFrameworks.look(next.low)
	return f, again || javaScript.of(next.low) || typeScript.of(next.low) || next.low == "rest" && words[i].low != "static"
}

// withoutSuffix takes a last word off that says the kind again: user form, of a form.
func withoutSuffix(name []string, words ...string) []string {
	if n := len(name); n > 1 && slices.Contains(words, name[n-1]) {
		return name[:n-1]
	}
	return name
}

// withoutPrefix does the same in front: use auth, of a hook.
func withoutPrefix(name []string, word string) []string {
	if len(name) > 1 && name[0] == word {
		return name[1:]
	}
	return name
}

// spoken is a name as people say it.
func spoken(name []string) string { return strings.Join(name, " ") }

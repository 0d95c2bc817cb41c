package scaffold

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A prompt has one or more sentences. Case does not matter, except in names.
//
//	sentence   = { polite } [ verb [ "me" ] ] { determiner } noun-phrase { clause } { closing }
//	           | { polite } "start" [ "with" ] { determiner } noun-phrase of a starter { clause } { closing }
//	           | { polite } ( "rename" | "move" ) [ "the file" ] path "to" path
//	           | { polite } ( "delete" | "remove" ) [ "the file" ] path
//	           | { polite } "npm install" package { ( "," | "and" ) package }
//	noun-phrase = [ framework ] [ record-noun ] thing [ "component" ]
//	           | [ framework ] "component for" { determiner } thing
//	clause     = ( "called" | "named" | "titled" ) name
//	           | ( "in" | "for" | "with" | "using" ) framework
//	           | ( "of" | "for" ) { determiner } plural-noun
//	           | "with" ["the"] [ ( "fields" | "columns" | "field" | "column" ) [ ":" ] ] field { ( "," | "and" ) field }
//	field      = [ "a" | "the" ] [ "optional" | "required" ] name [ "(" type ")" ] [ "field" | "column" ]
//
// The words of polite, verb, determiner, thing and type are in vocabulary.go.

// token is a word, a punctuation mark, or a quoted text.
type token struct {
	text, low string
	quoted    bool
}

// refusef returns the reason for a refusal, as a sentence.
func refusef(format string, args ...any) error { return fmt.Errorf(format, args...) }

// parser reads one sentence.
type parser struct {
	tokens []token
	at     int
}

// parse returns the requests of a prompt.
func parse(prompt string) ([]request, error) {
	var requests []request
	for _, sentence := range sentences(prompt) {
		p := &parser{tokens: sentence}
		if p.skip(politeWords); p.done() {
			continue // such as "Hi!" before the request
		}
		r, err := p.request()
		if err != nil {
			return nil, err
		}
		p.word(",")
		if p.skip(closingWords); !p.done() {
			return nil, p.refuse()
		}
		requests = append(requests, r)
	}
	if len(requests) == 0 {
		return nil, refusef("I understand no request in “%s”.", clip(strings.TrimSpace(prompt)))
	}
	return requests, nil
}

const quotes = "\"“”`"

var tokenPattern = regexp.MustCompile("\"[^\"]+\"|“[^“”]+”|`[^`]+`|[,:()]|[^\\s,()\"“”`]+|\\S")

// sentences splits a prompt. A sentence ends at a line break, at a semicolon, and at one of . ! ? before white space.
func sentences(prompt string) [][]token {
	var all [][]token
	for line := range strings.SplitSeq(strings.NewReplacer("\r", "\n", ";", "\n").Replace(prompt), "\n") {
		all = append(all, nil)
		for _, at := range tokenPattern.FindAllStringIndex(line, -1) {
			text, rest := line[at[0]:at[1]], line[at[1]:]
			last := &all[len(all)-1]
			if name := strings.Trim(text, quotes); name != text {
				name = cmp.Or(name, text) // the text can consist of quotation marks
				*last = append(*last, token{text: name, low: strings.ToLower(name), quoted: true})
				continue
			}
			word, ends := text, rest == "" || strings.ContainsAny(rest[:1], " \t")
			if ends {
				word = strings.TrimRight(text, ".!?")
			}
			name, colon := strings.CutSuffix(word, ":")
			if name != "" {
				*last = append(*last, token{text: name, low: strings.ToLower(name)})
			}
			if colon {
				*last = append(*last, token{text: ":", low: ":"})
			}
			if word != text {
				all = append(all, nil)
			}
		}
	}
	return slices.DeleteFunc(all, func(sentence []token) bool { return len(sentence) == 0 })
}

func (p *parser) done() bool { return p.at == len(p.tokens) }

// refuse returns the refusal of the current word. It quotes up to four words.
func (p *parser) refuse() error {
	if p.done() {
		return refusef("After “%s”, a word is missing.", clip(p.tokens[len(p.tokens)-1].text))
	}
	quote := ""
	for _, t := range p.tokens[p.at:min(p.at+4, len(p.tokens))] {
		quote += " " + t.text
	}
	quote = strings.NewReplacer(" ,", ",", " :", ":", "( ", "(", " )", ")").Replace(strings.TrimRight(quote, " ,:("))
	reason := refusef("I do not understand “%s”.", clip(strings.TrimSpace(cmp.Or(quote, p.tokens[p.at].text))))
	isEnglish := slices.ContainsFunc(p.tokens, func(t token) bool { return englishWords[t.low] })
	if !isEnglish && (p.at == 0 || p.tokens[p.at].text[0] >= utf8.RuneSelf) {
		return refusef("%w I understand only English.", reason)
	}
	return reason
}

// word consumes one of the words and returns it, or "".
func (p *parser) word(words ...string) string {
	for _, w := range words {
		if !p.done() && !p.tokens[p.at].quoted && p.tokens[p.at].low == w {
			p.at++
			return w
		}
	}
	return ""
}

// phrase returns the length of the longest phrase of the set at the current position, and its meaning.
func phrase[M any](p *parser, set map[string]M) (length int, meaning M) {
	text := ""
	for n := 1; n <= 6 && p.at+n <= len(p.tokens) && !p.tokens[p.at+n-1].quoted; n++ {
		text = strings.TrimPrefix(text+" "+p.tokens[p.at+n-1].low, " ")
		if m, ok := set[text]; ok {
			length, meaning = n, m
		}
	}
	return length, meaning
}

// take consumes the longest phrase of the set. ok is false if there is none.
func take[M any](p *parser, set map[string]M) (meaning M, ok bool) {
	n, meaning := phrase(p, set)
	p.at += n
	return meaning, n > 0
}

// skip consumes all phrases of the set, and the commas after them.
func (p *parser) skip(set map[string]bool) {
	for {
		if _, ok := take(p, set); !ok {
			return
		}
		p.word(",")
	}
}

var (
	politeWords     = set(polite)
	verbWords       = set(makeVerbs)
	indirectObjects = set(afterVerb)
	determinerWords = set(determiners)
	closingWords    = set(closing)
	fieldlessWords  = set(forNone)
	reservedWords   = set(notNames)
	englishWords    = set(notNames + ", " + otherWords)
)

// request reads a sentence.
func (p *parser) request() (r request, err error) {
	p.skip(politeWords)
	if kind, ok := take(p, changes); ok {
		return p.change(kind)
	}
	starts := p.word("start") != ""
	if starts {
		p.word("with")
	} else if _, ok := take(p, verbWords); ok {
		p.skip(indirectObjects)
	}
	start := p.at
	isDefinite := p.word("the", "my", "our") != "" // "build the app" means an app that exists
	p.skip(determinerWords)
	if err := p.nounPhrase(&r); err != nil {
		return r, err
	}
	if (r.piece == starter && r.topic != "" && isDefinite) || (r.piece != starter && starts) {
		p.at = start
		return r, p.refuse()
	}
	return r, p.clauses(&r)
}

// nounPhrase reads the piece.
func (p *parser) nounPhrase(r *request) error {
	r.framework, _ = take(p, frameworks)
	start := p.at
	if n, _ := phrase(p, things); n == 0 {
		if _, ok := take(p, recordNouns); ok {
			r.records = plural(singular(p.tokens[start].low))
		}
	}
	t, ok := take(p, things)
	if !ok || (r.records != "" && (t.topic != "" || !takesRecords[t.piece])) {
		p.at = start
		return p.refuse()
	}
	r.piece, r.topic = t.piece, t.topic
	switch t.piece {
	case component:
		if p.word("for") != "" {
			return p.shownPiece(r)
		}
	case form, list, todo, table, button, card, counter, modal:
		p.word("component")
	}
	return nil
}

// shownPiece reads the rest of "component for a todo list".
func (p *parser) shownPiece(r *request) error {
	p.skip(determinerWords)
	t, ok := take(p, things)
	if !ok || t.piece == starter || t.piece == component || t.piece == endpoint || t.piece == page {
		return p.refuse()
	}
	r.piece, r.topic = t.piece, t.topic
	return nil
}

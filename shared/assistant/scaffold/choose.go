package scaffold

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"devplatform/shared/excerpt"
)

// maxPhrase is the maximum number of words of a keyword.
const maxPhrase = 3

// byKeyword maps the keywords to the indexes of their starters.
var byKeyword = func() map[string]int {
	all := map[string]int{}
	for i, s := range starters {
		for keyword := range strings.SplitSeq(s.keywords, ", ") {
			all[phrase(words(keyword))] = i
		}
	}
	return all
}()

// The words that decide whether a message asks for a new project. The message must begin with an opening or a keyword,
// or contain a word for a request. It must not begin with a question word, and not contain a change or a negation.
var (
	openings  = set("a an")
	requests  = set("create make build start begin generate write develop design add need want like give")
	questions = set("how why what which who whose when where is are was were do does did should")
	changes   = set("fix change edit update improve refactor rename move delete remove replace convert migrate translate " +
		"debug explain")
	negations = set("not no never don't dont doesn't can't cannot won't shouldn't isn't without instead except neither " +
		"nor")
	// technologies are the words for languages and frameworks. A starter may be written in some of them.
	technologies = set("react react.js reactjs html css javascript typescript vanilla static vite tailwind vue vue.js " +
		"vuejs nuxt svelte sveltekit angular next.js nextjs remix gatsby astro solid.js solidjs preact qwik ember jquery " +
		"bootstrap express node.js nodejs python django flask php laravel wordpress ruby rails java kotlin swift flutter " +
		"golang rust")
)

func set(list string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		all[word] = true
	}
	return all
}

// choice is the starter that a message asks for, and the keyword in the message.
type choice struct {
	starter
	keyword string
}

// choose returns the starter that the message asks for, by the words of the message alone. Its errors are reasons for a
// refusal.
func choose(message, framework string) (choice, error) {
	all := words(message)
	found := matches(all)
	switch {
	case len(found) == 0:
		return choice{}, refusef("I know no starter for this message: it contains no keyword of a starter.")
	case len(found) > 1:
		return choice{}, refusef("The message fits several starters: “%s” and “%s” are keywords of different ones. "+
			"Ask for one of them.", found[0].keyword, found[1].keyword)
	case questions[all[0]]:
		return choice{}, refusef("I cannot answer a question that begins with “%s”.", all[0])
	}
	if i := slices.IndexFunc(all, func(word string) bool { return changes[word] || negations[word] }); i >= 0 {
		return choice{}, refusef("The word “%s” shows that the message asks for more than a new project.", all[i])
	}
	isRequest := slices.ContainsFunc(all, func(word string) bool { return requests[word] })
	if n, _ := keywordAt(all, 0); n == 0 && !openings[all[0]] && !isRequest {
		return choice{}, refusef("I do not see that the message asks for a new project. Write “create a …”.")
	}
	return found[0], found[0].stack.check(all, framework)
}

// check returns an error if the message or the framework of the project asks for something in another technology.
func (s stack) check(message []string, framework string) error {
	for _, word := range message {
		if technologies[word] && !slices.Contains(s.technologies, word) {
			return refusef("The starter for this message is written in %s, and the message says “%s”.", s.name, word)
		}
	}
	framework = strings.ToLower(strings.TrimSpace(framework))
	if framework != "" && !slices.Contains(s.frameworks, framework) {
		return refusef("The starter for this message is written in %s, and the framework of the project is “%s”. "+
			"Change the framework in the settings of the project to %s, and ask again.",
			s.name, quoteShort(framework), s.frameworks[0])
	}
	return nil
}

// matches returns the first keyword of each starter in the message.
func matches(message []string) []choice {
	var found []choice
	for i := 0; i < len(message); i++ {
		n, index := keywordAt(message, i)
		if n == 0 {
			continue
		}
		isKnown := func(c choice) bool { return c.folder == starters[index].folder }
		if !slices.ContainsFunc(found, isKnown) {
			found = append(found, choice{starters[index], strings.Join(message[i:i+n], " ")})
		}
		i += n - 1
	}
	return found
}

// keywordAt returns the number of words of the longest keyword at a position of the message, and the index of its
// starter. n is 0 if there is no keyword.
func keywordAt(message []string, at int) (n, index int) {
	for n := min(maxPhrase, len(message)-at); n > 0; n-- {
		if index, ok := byKeyword[phrase(message[at:at+n])]; ok {
			return n, index
		}
	}
	return 0, 0
}

// phrase joins words, each without the s of a plural.
func phrase(words []string) string {
	singular := make([]string, len(words))
	for i, word := range words {
		singular[i] = word
		if len(word) > 3 && !strings.HasSuffix(word, "ss") {
			singular[i] = strings.TrimSuffix(word, "s")
		}
	}
	return strings.Join(singular, " ")
}

// words returns the words of a text in lower case. Hyphens, apostrophes and dots within a word belong to it.
func words(text string) []string {
	const inner = "-'."
	text = strings.ReplaceAll(strings.ToLower(text), "’", "'")
	all := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N) && !strings.ContainsRune(inner, r)
	})
	for i, word := range all {
		all[i] = strings.Trim(word, inner)
	}
	return slices.DeleteFunc(all, func(word string) bool { return word == "" })
}

// reason is the reason why the generator refuses a message, as a sentence for the user.
type reason string

// Error returns the sentence.
func (r reason) Error() string { return string(r) }

func refusef(format string, values ...any) error { return reason(fmt.Sprintf(format, values...)) }

// quoteShort returns a text as an answer quotes it: on one line, and with at most 120 bytes.
func quoteShort(s string) string {
	return excerpt.WithEllipsis(strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "\uFFFD"), 120)
}

package resources

import (
	"maps"
	"slices"
	"strings"
)

// Rebind replaces predicted ARNs and URLs everywhere in the stack by the actual ones. An endpoint chooses the last six
// characters of a secret's ARN, and can have another account and other queue URLs. Rebind must not run concurrently
// with other uses of the stack.
func (s *Stack) Rebind(actual map[string]string) {
	// An ARN or URL may be the beginning of another one: longer texts are replaced first.
	predicted := slices.SortedFunc(maps.Keys(actual), func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, text := range predicted {
		pairs = append(pairs, text, actual[text])
	}
	replacer := strings.NewReplacer(pairs...)
	var all []map[string]string
	for _, function := range s.Functions {
		all = append(all, function.Env)
	}
	for _, api := range s.APIs {
		all = append(all, api.Variables)
	}
	for i := range s.Queues {
		queue := &s.Queues[i]
		queue.URL, queue.ARN = replacer.Replace(queue.URL), replacer.Replace(queue.ARN)
		all = append(all, queue.Attributes)
	}
	for _, texts := range all {
		for name, text := range texts {
			texts[name] = replacer.Replace(text)
		}
	}
	for i := range s.Secrets {
		s.Secrets[i].ARN = replacer.Replace(s.Secrets[i].ARN)
	}
	for i := range s.Schedules {
		s.Schedules[i].Input = replacer.Replace(s.Schedules[i].Input)
	}
}

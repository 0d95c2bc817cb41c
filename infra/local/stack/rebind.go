package stack

import (
	"slices"
	"strings"
)

// RebindSecret gives a secret another ARN than the predicted one, everywhere in the stack: AWS itself chooses
// the six characters at an ARN's end. It must not run beside other uses of the stack.
func (s *Stack) RebindSecret(logicalID, arn string) {
	for i := range s.Secrets {
		secret := &s.Secrets[i]
		if secret.LogicalID != logicalID || secret.ARN == arn {
			continue
		}
		predicted := secret.ARN
		secret.ARN = arn
		for _, texts := range s.texts() {
			replaceIn(texts, predicted, arn)
		}
	}
}

func replaceIn(texts map[string]string, old, replacement string) {
	for name, text := range texts {
		texts[name] = strings.ReplaceAll(text, old, replacement)
	}
}

// QueueAt is where an endpoint has a queue.
type QueueAt struct{ URL, ARN string }

// RebindQueues gives queues, by their logical id, other URLs and ARNs than the predicted ones, everywhere in the stack:
// an endpoint chooses host and path of a URL, and may have another account. It must not run beside other uses of the stack.
func (s *Stack) RebindQueues(found map[string]QueueAt) {
	type change struct{ old, replacement string }
	var changes []change
	for i := range s.Queues {
		queue := &s.Queues[i]
		at, known := found[queue.LogicalID]
		if !known {
			continue
		}
		changes = append(changes, change{queue.URL, at.URL}, change{queue.ARN, at.ARN})
		queue.URL, queue.ARN = at.URL, at.ARN
	}
	// One queue's name may begin as another's does: the longer one is looked for first.
	slices.SortStableFunc(changes, func(a, b change) int { return len(b.old) - len(a.old) })
	var pairs []string
	for _, c := range changes {
		pairs = append(pairs, c.old, c.replacement)
	}
	replace := strings.NewReplacer(pairs...).Replace
	for _, texts := range s.texts() {
		for name, text := range texts {
			texts[name] = replace(text)
		}
	}
	for i := range s.Schedules {
		s.Schedules[i].Input = replace(s.Schedules[i].Input)
	}
}

// texts are the places where the template's references have left their values.
func (s *Stack) texts() []map[string]string {
	all := []map[string]string{s.Outputs}
	for _, function := range s.Functions {
		all = append(all, function.Env)
	}
	for _, api := range s.APIs {
		all = append(all, api.Variables)
	}
	for _, queue := range s.Queues {
		all = append(all, queue.Attributes)
	}
	return all
}

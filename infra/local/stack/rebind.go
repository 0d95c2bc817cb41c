package stack

import (
	"slices"
	"strings"
)

// RebindSecret replaces the predicted ARN of a secret everywhere in the stack: AWS chooses the last six characters. It
// must not run concurrently with other uses of the stack.
func (s *Stack) RebindSecret(logicalID, arn string) {
	for i := range s.Secrets {
		if secret := &s.Secrets[i]; secret.LogicalID == logicalID && secret.ARN != arn {
			s.replace(strings.NewReplacer(secret.ARN, arn))
			secret.ARN = arn
		}
	}
}

// QueueAt has the URL and the ARN of a queue at an endpoint.
type QueueAt struct{ URL, ARN string }

// RebindQueues replaces the predicted URLs and ARNs of queues everywhere in the stack. found has the new ones by
// logical id: an endpoint chooses the host and the path of a URL, and may have another account. It must not run
// concurrently with other uses of the stack.
func (s *Stack) RebindQueues(found map[string]QueueAt) {
	type change struct{ old, replacement string }
	var changes []change
	for i := range s.Queues {
		queue := &s.Queues[i]
		if at, known := found[queue.LogicalID]; known {
			changes = append(changes, change{queue.URL, at.URL}, change{queue.ARN, at.ARN})
			queue.URL, queue.ARN = at.URL, at.ARN
		}
	}
	// A queue's name may be the beginning of another's: longer texts are replaced first.
	slices.SortStableFunc(changes, func(a, b change) int { return len(b.old) - len(a.old) })
	var pairs []string
	for _, c := range changes {
		pairs = append(pairs, c.old, c.replacement)
	}
	s.replace(strings.NewReplacer(pairs...))
}

// replace replaces texts wherever references of the template may have left them.
func (s *Stack) replace(replacer *strings.Replacer) {
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
	for _, texts := range all {
		for name, text := range texts {
			texts[name] = replacer.Replace(text)
		}
	}
	for i := range s.Schedules {
		s.Schedules[i].Input = replacer.Replace(s.Schedules[i].Input)
	}
}

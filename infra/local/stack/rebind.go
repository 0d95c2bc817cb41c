package stack

import "strings"

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
		for _, function := range s.Functions {
			replaceIn(function.Env, predicted, arn)
		}
		replaceIn(s.Outputs, predicted, arn)
		for _, api := range s.APIs {
			replaceIn(api.Variables, predicted, arn)
		}
	}
}

func replaceIn(texts map[string]string, old, replacement string) {
	for name, text := range texts {
		texts[name] = strings.ReplaceAll(text, old, replacement)
	}
}

package scaffold

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
)

// connect ends each answer to a message. Its lines are settings of `make run`, which shared/config/README.md explains.
const connect = "For everything else, connect a language model, such as one that Ollama serves: stop the platform, and " +
	"start it again with these settings:\n\n" +
	"- `AI_PROVIDER=openai`\n- `AI_MODEL=qwen3-coder`\n- `OPENAI_BASE_URL=http://localhost:11434/v1`"

// chat answers a message about a project. Its errors are reasons for a refusal.
func chat(s model.Subject) (answer, error) {
	if len(s.Paths) > 0 {
		return answer{}, refusef("The project has files already, and I cannot change them or add others.")
	}
	chosen, err := choose(s.Prompt, s.Framework)
	if err != nil {
		return answer{}, err
	}
	files, err := chosen.files()
	if err != nil {
		return answer{}, err
	}
	a := answer{text: fmt.Sprintf("The starter is %s. It is written in %s, and can be deployed as it is.\n\n"+
		"I chose it because of “%s”, and ignored the rest of the message: "+
		"I am the built-in generator, not a language model.\n\n%s",
		chosen.about, chosen.stack.name, chosen.keyword, connect)}
	for _, file := range files {
		input, err := json.Marshal(file)
		if err != nil {
			return answer{}, fmt.Errorf("encode an action: %w", err)
		}
		a.calls = append(a.calls, call{name: string(action.CreateFile), input: string(input)})
	}
	return a, nil
}

// refusal returns an answer without actions. It lists a message for each starter.
func refusal(reason error) answer {
	var b strings.Builder
	b.WriteString(reason.Error() + "\n\nI changed nothing. I am the built-in generator, not a language model: " +
		"I fill an empty project with one of these starters, and can do nothing else.\n\n")
	for _, s := range starters {
		fmt.Fprintf(&b, "- “%s” (%s)\n", s.request, s.stack.name)
	}
	return answer{text: b.String() + "\n" + connect}
}

package prompt

import "devplatform/shared/assistant/model"

// Generate asks for one block of code and a short explanation. Language and framework may be empty.
func Generate(prompt, language, framework string, maxOutput int) model.Request {
	text := ""
	if language != "" {
		text += "language: " + name(language) + "\n"
	}
	if framework != "" {
		text += "framework: " + name(framework) + "\n"
	}
	if text != "" {
		text += "\n"
	}
	return model.Request{
		Task: model.TaskGenerate, System: generateInstruction, MaxOutput: maxOutput,
		Messages: []model.Message{{Role: model.User, Text: text + orNothing(clean(prompt))}},
		Facts:    model.Facts{Prompt: prompt, Language: language, Framework: framework},
	}
}

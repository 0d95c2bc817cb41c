package blueprint

import "strings"

// irregulars are singular and plural of words that follow no rule below, in pairs.
func irregulars() []string {
	return []string{
		"person", "people", "child", "children", "man", "men", "woman", "women", "foot", "feet", "tooth", "teeth", "goose", "geese",
		"mouse", "mice", "ox", "oxen", "quiz", "quizzes", "index", "indexes", "matrix", "matrices", "vertex", "vertices",
		"criterion", "criteria", "phenomenon", "phenomena", "medium", "media", "curriculum", "curricula",
		"leaf", "leaves", "life", "lives", "knife", "knives", "wife", "wives", "wolf", "wolves", "half", "halves", "shelf", "shelves",
		"thief", "thieves", "loaf", "loaves", "hero", "heroes", "potato", "potatoes", "tomato", "tomatoes", "echo", "echoes",
		"movie", "movies", "cookie", "cookies", "calorie", "calories", "selfie", "selfies", "zombie", "zombies", "tie", "ties", "pie", "pies",
		"bus", "buses", "gas", "gases", "lens", "lenses", "status", "statuses", "alias", "aliases", "campus", "campuses", "bonus", "bonuses",
		"virus", "viruses", "census", "censuses", "corpus", "corpora", "canvas", "canvases", "atlas", "atlases", "bias", "biases",
		"cache", "caches", "headache", "headaches", "niche", "niches", "avalanche", "avalanches", "axe", "axes", "shoe", "shoes", "toe", "toes", "canoe", "canoes",
	}
}

// uncountables are words that are their own plural.
func uncountables() []string {
	return []string{
		"news", "series", "species", "equipment", "information", "money", "rice", "fish", "sheep", "deer", "feedback", "data", "metadata",
		"software", "hardware", "weather", "music", "analytics", "health", "auth", "staff", "luggage", "furniture", "traffic", "advice",
		"homework", "stuff", "content", "inventory", "search", "access", "settings", "preferences", "credentials", "statistics", "stats",
	}
}

// pluralOf is an English word's plural, and a plural itself.
func pluralOf(word string) string {
	if isOneOf(word, uncountables()) || word == "" || !isLetter(word[len(word)-1]) {
		return word
	}
	pairs := irregulars()
	for i := 0; i < len(pairs); i += 2 {
		if word == pairs[i] || word == pairs[i+1] {
			return pairs[i+1]
		}
	}
	if one := singularOf(word); one != word && pluralByRule(one) == word {
		return word
	}
	return pluralByRule(word)
}

func pluralByRule(word string) string {
	switch {
	case strings.HasSuffix(word, "sis"):
		return strings.TrimSuffix(word, "is") + "es"
	case strings.HasSuffix(word, "y") && len(word) > 1 && !strings.ContainsRune("aeiou", rune(word[len(word)-2])):
		return strings.TrimSuffix(word, "y") + "ies"
	case hasSuffix(word, "s", "x", "z", "ch", "sh"):
		return word + "es"
	}
	return word + "s"
}

// singularOf is an English word's singular, and a singular itself.
func singularOf(word string) string {
	if isOneOf(word, uncountables()) {
		return word
	}
	pairs := irregulars()
	for i := 0; i < len(pairs); i += 2 {
		if word == pairs[i] || word == pairs[i+1] {
			return pairs[i]
		}
	}
	switch {
	case len(word) < 3 || !strings.HasSuffix(word, "s") || hasSuffix(word, "ss", "us", "is"):
		return word
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return strings.TrimSuffix(word, "ies") + "y"
	case hasSuffix(word, "lyses", "theses", "crises", "oases"):
		return strings.TrimSuffix(word, "es") + "is"
	case hasSuffix(word, "sses", "xes", "zzes", "ches", "shes"):
		return strings.TrimSuffix(word, "es")
	}
	return strings.TrimSuffix(word, "s")
}

func hasSuffix(word string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(word, suffix) {
			return true
		}
	}
	return false
}

func isLetter(b byte) bool { return 'a' <= b && b <= 'z' }

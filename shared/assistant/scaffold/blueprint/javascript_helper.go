package blueprint

// newHelper finds the place of a module with a function of that name, and the template in the folder javascript that makes it, as the
// view's Variant: that of a function that everybody knows by that name, or else functions about a record of that name.
func newHelper(at *place, folder, extension string, n name, v jsView) (string, jsView) {
	v.Variant = helperOf(n)
	if v.Variant == "" {
		v.Variant = "record"
		n = n.singular()
	}
	named := func(suffix string) string { return folder + "/" + n.numbered(suffix).camel() + extension }
	suffix := at.free(func(suffix string) []string { return []string{named(suffix)} })
	v.Name = jsVariable(n)
	if v.Variant == "record" {
		v.Name = "create" + v.Type
	}
	return named(suffix), v
}

// helperOf is the template of a function that everybody knows by that name.
func helperOf(n name) string {
	for _, known := range [][2]string{
		{"debounce", "debounce"}, {"slug", "slug"}, {"slugify", "slug"}, {"truncate", "truncate"}, {"capitalize", "capitalize"}, {"capitalise", "capitalize"},
		{"clamp", "clamp"}, {"group", "group"},
	} {
		if isOneOf(known[0], n.words) {
			return known[1]
		}
	}
	if !isOneOf(n.words[0], []string{"format", "is", "validate", "check", "to"}) {
		return ""
	}
	for _, word := range n.words[1:] {
		switch word {
		case "date":
			return "date"
		case "currency", "price", "money", "amount":
			return "currency"
		case "email":
			if n.words[0] != "format" {
				return "email"
			}
		}
	}
	return ""
}

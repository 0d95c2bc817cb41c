package blueprint

// formText is what a form says.
type formText struct {
	Submit string // on its button
	Busy   string // on its button, while it submits
	Done   string // once it has
	Failed string // when it could not
}

// formTextOf is what a form of that name says.
func formTextOf(n name) formText {
	for _, word := range n.words {
		switch singularOf(word) {
		case "login", "signin", "sign":
			if isOneOf("up", n.words) {
				return formText{"Sign up", "Signing up…", "Your account was created.", "You could not be signed up. Please try again."}
			}
			return formText{"Log in", "Logging in…", "You are logged in.", "You could not be logged in. Please check what you entered."}
		case "signup", "register", "registration":
			return formText{"Sign up", "Signing up…", "Your account was created.", "You could not be signed up. Please try again."}
		case "contact", "feedback", "support", "inquiry", "message", "comment", "review":
			return formText{"Send", "Sending…", "Thank you. Your message was sent.", "Your message could not be sent. Please try again."}
		case "newsletter", "subscribe", "subscription", "waitlist":
			return formText{"Subscribe", "Subscribing…", "Thank you. You are subscribed.", "You could not be subscribed. Please try again."}
		case "search":
			return formText{"Search", "Searching…", "The search is complete.", "The search failed. Please try again."}
		case "checkout", "payment":
			return formText{"Pay", "Paying…", "Thank you for your order.", "The payment failed. Please try again."}
		}
	}
	return formText{"Save", "Saving…", n.sentence() + " saved.", "The " + n.lower() + " could not be saved. Please try again."}
}

// isForm reports whether a thing of that name is a form, whatever else it is called: a login page, a contact component.
func isForm(n name) bool {
	for _, word := range n.words {
		switch word {
		case "login", "signin", "signup", "register", "registration", "contact", "feedback", "newsletter", "subscribe", "waitlist", "checkout", "form":
			return true
		case "sign":
			return isOneOf("in", n.words) || isOneOf("up", n.words)
		}
	}
	return false
}

// isLogin reports whether the form asks for a password that exists, and not for a new one.
func isLogin(n name) bool {
	for _, word := range n.words {
		if isOneOf(word, []string{"login", "signin"}) || word == "sign" && isOneOf("in", n.words) {
			return true
		}
	}
	return false
}

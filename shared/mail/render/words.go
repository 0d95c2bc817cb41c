package render

import "devplatform/shared/mail"

// words are the words of a kind of mail. Names in braces stand for values. Each line is a paragraph.
type words struct {
	subject string
	before  string // the text before the link
	button  string
	after   string // the text after the link
}

// The advice to a reader who did not cause the mail.
const (
	secureAccount = "If it was not you, reset your password now, and log in with the new one. " +
		"Then check the sessions, tokens and linked accounts of your account."
	ignoreMail = "If it was not you, you can ignore this mail. Nothing was changed."
)

// allWords are the words of all kinds.
var allWords = map[mail.Kind]words{
	mail.Confirm: {
		subject: "Confirm your address for {service}",
		before:  "Please confirm that this e-mail address belongs to your account {username} at {service}.",
		button:  "Confirm this address",
		after:   "If you have no such account, open the link and choose “This was not me”.",
	},
	mail.Reset: {
		subject: "Reset your password for {service}",
		before:  "Somebody asked to reset the password of your account {username} at {service}.",
		button:  "Choose a new password",
		after:   ignoreMail,
	},
	mail.Change: {
		subject: "Confirm your new address for {service}",
		before:  "The account {username} at {service} wants to use this e-mail address. Please confirm that it is yours.",
		button:  "Confirm this address",
		after:   "If you have no such account, open the link and choose “This was not me”.",
	},
	mail.Undo: {
		subject: "Your address for {service} was changed",
		before: "The e-mail address of your account {username} at {service} was changed to {email}. " +
			"This old address is no longer in use.\nIf it was you, you need to do nothing. " +
			"If it was not you, undo the change. This ends all sessions, and lets you choose a new password.",
		button: "Undo the change",
	},
	mail.Invitation: {
		subject: "{inviter} invites you to {workspace}",
		before:  "{inviter} invites you to the workspace {workspace} at {service}, with the role {role}.",
		button:  "Open the invitation",
		after:   "If you do not know the sender, you can ignore this mail.",
	},
	mail.ChangeRequested: {
		subject: "A new address for your account at {service}",
		before: "Somebody who is logged in to your account {username} at {service} wants to change its e-mail address " +
			"to {email}. The address changes when the mail to the new address is confirmed.",
		after: secureAccount,
	},
	mail.AddressTaken: {
		subject: "Your address is already in use at {service}",
		before: "Somebody wanted to use this e-mail address for another account at {service}. " +
			"It belongs to your account {username}, so nothing was changed.",
		after: "If it was you, log in to the account {username}, or reset its password.",
	},
	mail.PasswordChanged: {
		subject: "Your password for {service} was changed",
		before:  "The password of your account {username} at {service} was changed.",
		after:   secureAccount,
	},
	mail.PasswordReset: {
		subject: "Your password for {service} was reset",
		before: "The password of your account {username} at {service} was reset with a mail to this address. " +
			"All sessions have ended.",
		after: secureAccount,
	},
	mail.IdentityLinked: {
		subject: "A sign-in was added to your account at {service}",
		before:  "The account {name} at {provider} can now sign in to your account {username} at {service}.",
		after:   secureAccount,
	},
	mail.IdentityRemoved: {
		subject: "A sign-in was removed from your account at {service}",
		before:  "The account {name} at {provider} can no longer sign in to your account {username} at {service}.",
		after:   secureAccount,
	},
	mail.AccountDeleted: {
		subject: "Your account at {service} was deleted",
		before: "Your account {username} at {service} was deleted, with the workspaces that only you had. " +
			"Their data is removed within 24 hours.",
	},
	mail.WebhookDisabled: {
		subject: "A webhook was disabled at {service}",
		before: "A webhook of the workspace {workspace} at {service} was disabled: {name}\nThe reason: {reason}.\n" +
			"Nothing is sent to it until an admin or owner of the workspace activates it again.",
		after: "You get this mail because you created the webhook, or activated it last.",
	},
	mail.NewNetwork: {
		subject: "A login to your account at {service} from a new network",
		before:  "Somebody logged in to your account {username} at {service} from a network that you did not use before.",
		after:   "If it was you, you need to do nothing. " + secureAccount,
	},
}

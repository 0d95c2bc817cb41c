package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"devplatform/infra/operator/audit"
	"devplatform/infra/operator/reencrypt"
	"devplatform/shared/webhook/delivery"
)

// streams are the input and the output of the command.
type streams struct {
	in         io.Reader
	isTerminal bool // whether a person can answer a question
	out        io.Writer
}

func (s streams) printf(format string, values ...any) { _, _ = fmt.Fprintf(s.out, format, values...) }

// request is a command with its argument.
type request struct {
	argument    string
	reason, yes string
}

// command is one of the commands.
type command struct {
	name, argument, description string
	isAct                       bool // it changes something, and needs a reason
	run                         func(o *operator, ctx context.Context, r request) error
}

// commands returns all commands.
func commands() []command {
	return []command{
		{"find", "QUERY", "find an account by username, address, ID, project ID or URL of a site", false, (*operator).find},
		{"show", "USER", "show the workspaces, the sites and the usage of an account", false, (*operator).show},
		{"log", "USER", "show what operators did to an account", false, (*operator).log},
		{"suspend", "USER", "suspend an account", true, (*operator).suspend},
		{"lift", "USER", "end a suspension", true, (*operator).lift},
		{"delete", "USER", "delete an account", true, (*operator).remove},
		{"send-reset", "USER", "send a mail with which the user chooses a new password", true, (*operator).sendReset},
		{"block-site", "SITE", "block one address, by its URL or label", true, (*operator).blockSite},
		{"unblock-site", "SITE", "end the block of an address", true, (*operator).unblockSite},
		{"block-project", "PROJECT", "block all addresses of a project, and its deployments", true, (*operator).blockProject},
		{"unblock-project", "PROJECT", "end the block of a project", true, (*operator).unblockProject},
		{"reencrypt", "", "encrypt the secrets of webhooks with the current key", false, (*operator).reencrypt},
	}
}

func usage() string {
	var text strings.Builder
	text.WriteString("usage: operator COMMAND ARGUMENT [--reason TEXT] [--yes USERNAME]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&text, "  %-15s %-8s %s\n", c.name, c.argument, c.description)
	}
	text.WriteString("\nUSER is what find accepts. The commands that change something need --reason, and ask for the\n" +
		"username of the account. In scripts, --yes has the username.\n")
	return text.String()
}

// maxReason is the maximum length of a reason, in bytes.
const maxReason = 500

// run runs the command with these arguments.
func (o *operator) run(ctx context.Context, arguments []string) error {
	for _, c := range commands() {
		if c.name != arguments[0] {
			continue
		}
		r, err := parse(c, arguments[1:])
		if err != nil {
			return err
		}
		return c.run(o, ctx, r)
	}
	return fmt.Errorf("the command %q does not exist\n\n%s", arguments[0], usage())
}

// parse parses the arguments of a command. The options can be before or after the argument.
func parse(c command, arguments []string) (r request, _ error) {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	if c.isAct {
		flags.StringVar(&r.reason, "reason", "", "")
		flags.StringVar(&r.yes, "yes", "", "")
	}
	var rest []string
	for len(arguments) > 0 {
		if err := flags.Parse(arguments); err != nil {
			return r, fmt.Errorf("%s: %w", c.name, err)
		}
		if arguments = flags.Args(); len(arguments) > 0 {
			rest, arguments = append(rest, arguments[0]), arguments[1:]
		}
	}
	r.reason = strings.TrimSpace(r.reason)
	switch {
	case c.argument == "" && len(rest) > 0:
		return r, fmt.Errorf("%s has no argument", c.name)
	case c.argument != "" && len(rest) != 1:
		return r, fmt.Errorf("%s needs one argument: %s", c.name, c.argument)
	case c.isAct && (r.reason == "" || len(r.reason) > maxReason || !utf8.ValidString(r.reason)):
		return r, fmt.Errorf("%s needs --reason with 1 to %d bytes of text", c.name, maxReason)
	}
	if len(rest) == 1 {
		r.argument = rest[0]
	}
	return r, nil
}

// errNotConfirmed reports that the person did not confirm an act.
var errNotConfirmed = errors.New("not confirmed: nothing was changed")

// confirm asks for the username of the account that an act is about. what describes the act.
func (o *operator) confirm(r request, what, username string) error {
	switch {
	case r.yes == username:
		return nil
	case r.yes != "":
		return fmt.Errorf("--yes %s is not the username %s: %w", r.yes, username, errNotConfirmed)
	case !o.isTerminal:
		return fmt.Errorf("there is no terminal to ask: add --yes %s: %w", username, errNotConfirmed)
	}
	o.printf("%s\nType the username %s to confirm: ", what, username)
	line, err := bufio.NewReader(o.in).ReadString('\n')
	if err != nil || strings.TrimSpace(line) != username {
		return errNotConfirmed
	}
	return nil
}

// reencrypt encrypts the secrets of webhooks again. It is about no account, so it asks nothing.
func (o *operator) reencrypt(ctx context.Context, _ request) error {
	record := o.audit.Write(audit.Record{Act: "reencrypt", Target: "webhooks", Reason: "a change of the key ring"})
	if err := o.db.Tx(record).Commit(ctx); err != nil {
		return err
	}
	result, err := reencrypt.Command{
		SDK: o.sdk, Table: o.Webhooks, Client: o.db, Secrets: delivery.Secrets{Keys: o.keys}, Clock: o.now,
	}.Run(ctx)
	if err != nil {
		return err
	}
	return result.Print(o.out)
}

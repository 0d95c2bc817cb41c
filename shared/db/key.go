package db

import (
	"strconv"
	"strings"
	"time"

	"devplatform/shared/id"
)

// separator stands between the parts of a key. Only a key's last part may contain it.
const separator = "#"

// Key addresses one item. Keys are built by this file's functions alone, from checked parts, so that no id,
// address or path can forge another item's key. A part that can't be right gives the zero Key:
// reads find nothing under it, writes refuse it with ErrInvalidKey.
type Key struct{ PK, SK string }

// Prefix addresses the items of one partition whose sort keys begin alike; without an SK, all of the partition.
// One without a PK, made from parts that can't be right, addresses none.
type Prefix struct{ PK, SK string }

// After is the key whose sort key has rest behind the prefix, for Query.After; the zero Key, which is before all of
// them, for no rest. Rest is the inverse.
func (p Prefix) After(rest string) Key {
	if rest == "" {
		return Key{}
	}
	return newKey(p.PK, p.SK+rest)
}

// Rest is what a sort key has behind the prefix: the path of a file, the id of a comment.
func (p Prefix) Rest(k Key) string { return strings.TrimPrefix(k.SK, p.SK) }

// IsZero reports whether the key was built from a part that can't be right.
func (k Key) IsZero() bool { return k.PK == "" || k.SK == "" }

// UserKey addresses a user's record.
func UserKey(userID string) Key { return newKey(join("USER", idPart(id.User, userID)), "USER") }

// EmailKey addresses the record that makes an e-mail address unique. Case does not count.
func EmailKey(email string) Key { return newKey(emailPK(email), "EMAIL") }

// KnownIPKey addresses the note that somebody logged in to email from ip (see api.RateKey).
func KnownIPKey(email, ip string) Key { return newKey(emailPK(email), join("IP", ip)) }

// UsernameKey addresses the record that makes a username unique. Case does not count.
func UsernameKey(username string) Key {
	return newKey(join("USERNAME", strings.ToLower(username)), "USERNAME")
}

// IdentityKey addresses the link from a provider's user to one of ours.
func IdentityKey(provider, subject string) Key {
	return newKey(join("IDENTITY", provider, subject), "IDENTITY")
}

// OAuthStateKey addresses a sign-in that is under way, by the hash of its state.
func OAuthStateKey(hash string) Key { return newKey(join("OAUTH", hash), "OAUTH") }

// SessionKey addresses one session of a user.
func SessionKey(userID, sessionID string) Key {
	return newKey(join("USER", idPart(id.User, userID)), join("SESSION", idPart(id.Session, sessionID)))
}

// SessionsOf addresses every session of a user.
func SessionsOf(userID string) Prefix {
	return newPrefix(join("USER", idPart(id.User, userID)), "SESSION"+separator)
}

// CounterKey addresses what a rate rule counted for its subjects in the window that begins at start.
// Only the last subject may be free text, such as an e-mail address.
func CounterKey(rule string, start time.Time, subjects ...string) Key {
	return newKey(join("RATE", append([]string{rule}, subjects...)...), strconv.FormatInt(start.Unix(), 10))
}

// WorkspaceKey addresses a workspace's record.
func WorkspaceKey(workspaceID string) Key {
	return newKey(workspacePK(workspaceID), "WORKSPACE")
}

// MemberKey addresses a user's role in a workspace, listed by workspace.
func MemberKey(workspaceID, userID string) Key {
	return newKey(workspacePK(workspaceID), join("MEMBER", idPart(id.User, userID)))
}

// MembershipKey addresses the mirror of MemberKey's item, listed by user.
func MembershipKey(userID, workspaceID string) Key {
	return newKey(join("USER", idPart(id.User, userID)), join("WS", idPart(id.Workspace, workspaceID)))
}

// MembersOf addresses every member of a workspace.
func MembersOf(workspaceID string) Prefix {
	return newPrefix(workspacePK(workspaceID), "MEMBER"+separator)
}

// MembershipsOf addresses a user's place in every workspace they are in.
func MembershipsOf(userID string) Prefix {
	return newPrefix(join("USER", idPart(id.User, userID)), "WS"+separator)
}

// MembershipCountKey addresses the number of workspaces that a user is in.
func MembershipCountKey(userID string) Key {
	return newKey(join("USER", idPart(id.User, userID)), "MEMBERSHIPS")
}

// ProjectKey addresses a project's record.
func ProjectKey(workspaceID, projectID string) Key {
	return newKey(workspacePK(workspaceID), join("PROJECT", idPart(id.Project, projectID)))
}

// ProjectsOf addresses the records of a workspace's projects.
func ProjectsOf(workspaceID string) Prefix {
	return newPrefix(workspacePK(workspaceID), "PROJECT"+separator)
}

// SlugKey addresses the record that makes a slug unique in its workspace.
func SlugKey(workspaceID, slug string) Key {
	return newKey(workspacePK(workspaceID), join("SLUG", slug))
}

// SlugsOf addresses the slugs of a workspace that begin with base.
func SlugsOf(workspaceID, base string) Prefix {
	return newPrefix(workspacePK(workspaceID), join("SLUG", base))
}

// TreeKey addresses what finds a project by its id and counts its files.
func TreeKey(projectID string) Key { return newKey(projectPK(projectID), "TREE") }

// ProjectPartition addresses everything under a project's id, in whichever table.
func ProjectPartition(projectID string) Prefix { return Prefix{PK: projectPK(projectID)} }

// FileKey addresses a file's record by its path, which has been checked.
func FileKey(projectID, path string) Key { return newKey(projectPK(projectID), join("FILE", path)) }

// FilesOf addresses the files of a project whose paths begin with prefix; "" is all of them.
func FilesOf(projectID, prefix string) Prefix {
	return newPrefix(projectPK(projectID), "FILE"+separator+prefix)
}

// VersionKey addresses the record of a replaced version of the file at a path, given as the hex SHA-256 of the path.
func VersionKey(projectID, pathHash, version string) Key {
	return newKey(projectPK(projectID), join("VERSION", pathHash, version))
}

// VersionsOf addresses the replaced versions of the file at a path, in the order in which they were written.
func VersionsOf(projectID, pathHash string) Prefix {
	if strings.Contains(pathHash, separator) {
		return Prefix{}
	}
	return newPrefix(projectPK(projectID), behind(join("VERSION", pathHash)))
}

// CommentKey addresses a comment.
func CommentKey(projectID, commentID string) Key {
	return newKey(projectPK(projectID), join("COMMENT", idPart(id.Comment, commentID)))
}

// CommentsOf addresses the comments of a project, in the order in which they were made.
func CommentsOf(projectID string) Prefix { return newPrefix(projectPK(projectID), "COMMENT"+separator) }

// ChunkKey addresses the n-th chunk of a content, counted from 0.
func ChunkKey(projectID, contentID string, n int) Key {
	if contentID == "" || strings.ContainsAny(contentID, separator+"\x00") || n < 0 {
		return Key{}
	}
	return newKey(projectPK(projectID), contentID+separator+strconv.Itoa(n))
}

// ProjectEventKey addresses an event of a project.
func ProjectEventKey(projectID, eventID string) Key {
	return newKey(projectPK(projectID), idPart(id.Event, eventID))
}

// WorkspaceEventKey addresses an event of a workspace that belongs to none of its projects.
func WorkspaceEventKey(workspaceID, eventID string) Key {
	return newKey(workspacePK(workspaceID), idPart(id.Event, eventID))
}

// EventsOf addresses the events of a project, in the order in which they were made.
func EventsOf(projectID string) Prefix { return newPrefix(projectPK(projectID), string(id.Event)+"_") }

// WebhookKey addresses a webhook's record.
func WebhookKey(workspaceID, webhookID string) Key {
	return newKey(workspacePK(workspaceID), join("WEBHOOK", idPart(id.Webhook, webhookID)))
}

// WebhooksOf addresses the webhooks of a workspace, in the order in which they were made.
func WebhooksOf(workspaceID string) Prefix {
	return newPrefix(workspacePK(workspaceID), "WEBHOOK"+separator)
}

// WebhookCountKey addresses the number of webhooks that a workspace has.
func WebhookCountKey(workspaceID string) Key { return newKey(workspacePK(workspaceID), "WEBHOOKS") }

// WebhookPlaceKey addresses what finds a webhook by its id: its workspace.
func WebhookPlaceKey(webhookID string) Key { return newKey(webhookPK(webhookID), "WEBHOOK") }

// DeliveryKey addresses a delivery.
func DeliveryKey(webhookID, deliveryID string) Key {
	return newKey(webhookPK(webhookID), join("DELIVERY", idPart(id.Delivery, deliveryID)))
}

// DeliveriesOf addresses the deliveries of a webhook, in the order of their events' times.
func DeliveriesOf(webhookID string) Prefix {
	return newPrefix(webhookPK(webhookID), "DELIVERY"+separator)
}

// SummaryKey addresses what is kept of a conversation beside its messages. It sorts behind them: one Query of the partition, backwards,
// reads it and the latest messages.
func SummaryKey(projectID string) Key { return newKey(projectPK(projectID), "SUMMARY") }

// MessageKey addresses the n-th part of a message, counted from 0, at most 9.
func MessageKey(projectID, messageID string, n int) Key {
	if n < 0 || n > 9 {
		return Key{}
	}
	return newKey(projectPK(projectID), join("MSG", idPart(id.Message, messageID), strconv.Itoa(n)))
}

// MessagesOf addresses the messages of a project's conversation, in the order in which they were made.
func MessagesOf(projectID string) Prefix { return newPrefix(projectPK(projectID), "MSG"+separator) }

// UsageKey addresses what a user took of the assistant in a month, given as 2026-11.
func UsageKey(userID, month string) Key {
	return newKey(join("USER", idPart(id.User, userID)), join("USAGE", month))
}

// GlobalUsageKey addresses what all users together took of the assistant in a month, given as 2026-11.
func GlobalUsageKey(month string) Key { return newKey("USERS", join("USAGE", month)) }

// GenerationKey addresses the record of an answer that is being made for a user, by its message's id.
func GenerationKey(userID, messageID string) Key {
	return newKey(join("USER", idPart(id.User, userID)), join("GENERATION", idPart(id.Message, messageID)))
}

// GenerationsOf addresses the answers made for a user of late.
func GenerationsOf(userID string) Prefix {
	return newPrefix(join("USER", idPart(id.User, userID)), "GENERATION"+separator)
}

// DueShards is how many parts the index of what is due has, so that no part of it is hot.
const DueShards = 16

// DuePartition is the partition of a delivery in the index of what is due: its shard, counted from 0.
func DuePartition(shard int) string { return "DUE" + separator + strconv.Itoa(shard) }

func webhookPK(webhookID string) string { return join("WEBHOOK", idPart(id.Webhook, webhookID)) }

func workspacePK(workspaceID string) string { return join("WS", idPart(id.Workspace, workspaceID)) }

func projectPK(projectID string) string { return join("PROJECT", idPart(id.Project, projectID)) }

func emailPK(email string) string { return join("EMAIL", strings.ToLower(email)) }

// idPart is s if it is an id of kind k, and the empty string, which no key takes, if not.
func idPart(k id.Kind, s string) string {
	if !k.Valid(s) {
		return ""
	}
	return s
}

// join puts kind and parts together, or answers "" if a part can't be right: empty, with a NUL,
// or, but for the last one, with the separator.
func join(kind string, parts ...string) string {
	for i, part := range parts {
		last := i == len(parts)-1
		if part == "" || strings.ContainsRune(part, 0) || (!last && strings.Contains(part, separator)) {
			return ""
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return kind + separator + strings.Join(parts, separator)
}

// behind is the beginning of what has one more part than a joined key, "" of none.
func behind(joined string) string {
	if joined == "" {
		return ""
	}
	return joined + separator
}

// DynamoDB's limits of a partition and a sort key, in bytes.
const (
	maxPK = 2048
	maxSK = 1024
)

func newKey(pk, sk string) Key {
	if pk == "" || sk == "" || len(pk) > maxPK || len(sk) > maxSK {
		return Key{}
	}
	return Key{PK: pk, SK: sk}
}

func newPrefix(pk, sk string) Prefix { return Prefix(newKey(pk, sk)) }

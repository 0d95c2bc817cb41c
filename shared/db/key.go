package db

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/shared/id"
)

// separator separates the parts of a key. Only the last part may contain it.
const separator = "#"

// Key is the primary key of an item. Only the functions in this file build keys, from validated parts, so that no ID,
// address or path can forge the key of another item. An invalid part results in the zero Key: reads with it find no
// item, and writes with it fail with ErrInvalidKey.
type Key struct{ PK, SK string }

// Prefix selects the items of a partition whose sort keys begin with SK, or all of them if SK is empty. An invalid part
// results in the zero Prefix, which selects no items.
type Prefix struct{ PK, SK string }

// After returns the value of Query.After for the page that begins after the sort key that consists of the prefix and
// suffix. If suffix is empty, it returns the zero Key, which means the first page. Rest returns the suffix of a key.
func (p Prefix) After(suffix string) Key {
	if suffix == "" {
		return Key{}
	}
	return newKey(p.PK, p.SK+suffix)
}

// Rest returns the part of a sort key after the prefix, such as the path of a file or the ID of a comment.
func (p Prefix) Rest(k Key) string { return strings.TrimPrefix(k.SK, p.SK) }

// IsZero reports whether the key is invalid.
func (k Key) IsZero() bool { return k.PK == "" || k.SK == "" }

// UserKey returns the key of a user.
func UserKey(userID string) Key { return newKey(userPK(userID), "USER") }

// EndedUserKey returns the key of the item that remains of a user until the removal of the account has ended.
func EndedUserKey(userID string) Key { return newKey(userPK(userID), "ENDED") }

// UserPartition selects all items that are stored under the ID of a user, in any table.
func UserPartition(userID string) Prefix { return Prefix{PK: userPK(userID)} }

// EmailKey returns the key of the item that makes an e-mail address unique. Case is ignored.
func EmailKey(email string) Key { return newKey(emailPK(email), "EMAIL") }

// KnownIPKey returns the key of the item that records that the user with an e-mail address has logged in from an IP
// address.
func KnownIPKey(email, ip string) Key { return newKey(emailPK(email), join("IP", ip)) }

// EmailPartition selects the items that are stored under an e-mail address.
func EmailPartition(email string) Prefix { return Prefix{PK: emailPK(email)} }

// KnownIPsOf selects the IP addresses from which the user with an e-mail address has logged in.
func KnownIPsOf(email string) Prefix { return newPrefix(emailPK(email), "IP"+separator) }

// UsernameKey returns the key of the item that makes a username unique. Case is ignored.
func UsernameKey(username string) Key {
	return newKey(join("USERNAME", strings.ToLower(username)), "USERNAME")
}

// IdentityKey returns the key of the link from a user of a sign-in provider to a user of this service.
func IdentityKey(provider, subject string) Key {
	return newKey(join("IDENTITY", provider, subject), "IDENTITY")
}

// UserIdentityKey returns the key of the copy of an identity that is stored under the user, to list the identities of
// the user.
func UserIdentityKey(userID, identityID string) Key {
	return newKey(userPK(userID), join("IDENTITY", idPart(id.Identity, identityID)))
}

// IdentitiesOf selects the identities of a user, in the order in which they were linked.
func IdentitiesOf(userID string) Prefix { return newPrefix(userPK(userID), "IDENTITY"+separator) }

// OAuthStateKey returns the key of a sign-in in progress, by the hash of its OAuth state.
func OAuthStateKey(hash string) Key { return newKey(join("OAUTH", hash), "OAUTH") }

// SessionKey returns the key of a session of a user.
func SessionKey(userID, sessionID string) Key {
	return newKey(userPK(userID), join("SESSION", idPart(id.Session, sessionID)))
}

// SessionsOf selects the sessions of a user.
func SessionsOf(userID string) Prefix { return newPrefix(userPK(userID), "SESSION"+separator) }

// MailTokensKey returns the key of the tokens and codes of a kind of mail that are valid for a user.
func MailTokensKey(userID, kind string) Key { return newKey(userPK(userID), join("MAILTOKENS", kind)) }

// MailTokensOf selects the tokens and codes of all kinds of mails that are valid for a user.
func MailTokensOf(userID string) Prefix { return newPrefix(userPK(userID), "MAILTOKENS"+separator) }

// ActivityKey returns the key of an entry in the list of what happened to an account.
func ActivityKey(userID, entryID string) Key {
	return newKey(userPK(userID), join("ACTIVITY", idPart(id.Activity, entryID)))
}

// ActivityOf selects the entries of a user, in the order of their times.
func ActivityOf(userID string) Prefix { return newPrefix(userPK(userID), "ACTIVITY"+separator) }

// CounterKey returns the key of the counter of a rate limit rule, for the window of time that begins at start. subjects
// identify whose attempts are counted, such as an IP address and an e-mail address. Only the last of them may contain
// the separator.
func CounterKey(rule string, start time.Time, subjects ...string) Key {
	return newKey(join("RATE", append([]string{rule}, subjects...)...), strconv.FormatInt(start.Unix(), 10))
}

// OperationsKey returns the key of the item with the operations of a subject that are in progress under a rule.
func OperationsKey(rule, subject string) Key {
	return newKey(join("OPERATIONS", rule, subject), "OPERATIONS")
}

// WorkspaceKey returns the key of a workspace.
func WorkspaceKey(workspaceID string) Key { return newKey(workspacePK(workspaceID), "WORKSPACE") }

// RemovalKey returns the key of the removal of a workspace or an account, by its ID.
func RemovalKey(workspaceOrUserID string) Key {
	part := cmp.Or(idPart(id.Workspace, workspaceOrUserID), idPart(id.User, workspaceOrUserID))
	return newKey(join("REMOVAL", part), "REMOVAL")
}

// WorkspacePartition selects all items that are stored under the ID of a workspace, in any table.
func WorkspacePartition(workspaceID string) Prefix { return Prefix{PK: workspacePK(workspaceID)} }

// MemberKey returns the key of a member of a workspace.
func MemberKey(workspaceID, userID string) Key {
	return newKey(workspacePK(workspaceID), join("MEMBER", idPart(id.User, userID)))
}

// MembershipKey returns the key of the copy of a member's item that is stored under the user, to list the workspaces of
// the user.
func MembershipKey(userID, workspaceID string) Key {
	return newKey(userPK(userID), join("WS", idPart(id.Workspace, workspaceID)))
}

// MembersOf selects the members of a workspace.
func MembersOf(workspaceID string) Prefix {
	return newPrefix(workspacePK(workspaceID), "MEMBER"+separator)
}

// MembershipsOf selects the memberships of a user.
func MembershipsOf(userID string) Prefix { return newPrefix(userPK(userID), "WS"+separator) }

// FormerMembershipKey returns the key of the item that records that a user was a member of a workspace.
func FormerMembershipKey(userID, workspaceID string) Key {
	return newKey(userPK(userID), join("FORMER", idPart(id.Workspace, workspaceID)))
}

// FormerMembershipsOf selects the workspaces of which a user was a member.
func FormerMembershipsOf(userID string) Prefix { return newPrefix(userPK(userID), "FORMER"+separator) }

// MembershipCountKey returns the key of the item that counts the memberships of a user in workspaces.
func MembershipCountKey(userID string) Key { return newKey(userPK(userID), "MEMBERSHIPS") }

// InvitationsKey returns the key of the item that has the open invitations of a workspace.
func InvitationsKey(workspaceID string) Key { return newKey(workspacePK(workspaceID), "INVITATIONS") }

// InvitationKey returns the key of the item that maps the ID of an invitation to its workspace. It is stored under the
// invited user, to list the invitations of the user.
func InvitationKey(userID, invitationID string) Key {
	return newKey(userPK(userID), join("INVITATION", idPart(id.Invitation, invitationID)))
}

// AddressInvitationKey is like InvitationKey, for an invitation to an e-mail address.
func AddressInvitationKey(email, invitationID string) Key {
	return newKey(emailPK(email), join("INVITATION", idPart(id.Invitation, invitationID)))
}

// AddressInvitationsOf selects the invitations to an e-mail address, in the order of their creation.
func AddressInvitationsOf(email string) Prefix {
	return newPrefix(emailPK(email), "INVITATION"+separator)
}

// InvitationsOf selects the invitations of a user, in the order of their creation.
func InvitationsOf(userID string) Prefix { return newPrefix(userPK(userID), "INVITATION"+separator) }

// ProjectKey returns the key of a project.
func ProjectKey(workspaceID, projectID string) Key {
	return newKey(workspacePK(workspaceID), join("PROJECT", idPart(id.Project, projectID)))
}

// ProjectsOf selects the projects of a workspace.
func ProjectsOf(workspaceID string) Prefix {
	return newPrefix(workspacePK(workspaceID), "PROJECT"+separator)
}

// SlugKey returns the key of the item that makes a slug unique in its workspace.
func SlugKey(workspaceID, slug string) Key {
	return newKey(workspacePK(workspaceID), join("SLUG", slug))
}

// LabelKey returns the key of the item that lists a label that is reserved for a workspace.
func LabelKey(workspaceID, label string) Key {
	return newKey(workspacePK(workspaceID), join("LABEL", label))
}

// LabelsOf selects the labels that are reserved for a workspace.
func LabelsOf(workspaceID string) Prefix {
	return newPrefix(workspacePK(workspaceID), "LABEL"+separator)
}

// SlugsOf selects the slugs of a workspace that begin with base.
func SlugsOf(workspaceID, base string) Prefix {
	return newPrefix(workspacePK(workspaceID), join("SLUG", base))
}

// TreeKey returns the key of the item that maps a project's ID to the project's workspace. The item also counts the
// project's files.
func TreeKey(projectID string) Key { return newKey(projectPK(projectID), "TREE") }

// VariablesKey returns the key of the variables of a project.
func VariablesKey(projectID string) Key { return newKey(projectPK(projectID), "VARIABLES") }

// ProjectPartition selects all items that are stored under the ID of a project, in any table.
func ProjectPartition(projectID string) Prefix { return Prefix{PK: projectPK(projectID)} }

// FileKey returns the key of a file by its validated path.
func FileKey(projectID, path string) Key { return newKey(projectPK(projectID), join("FILE", path)) }

// FilesOf selects the files of a project whose paths begin with prefix; "" selects all.
func FilesOf(projectID, prefix string) Prefix {
	return newPrefix(projectPK(projectID), "FILE"+separator+prefix)
}

// VersionKey returns the key of a replaced version of a file, by the SHA-256 of the file's path in hex.
func VersionKey(projectID, pathHash, version string) Key {
	return newKey(projectPK(projectID), join("VERSION", pathHash, version))
}

// VersionsOf selects the replaced versions of a file, in the order in which they were written.
func VersionsOf(projectID, pathHash string) Prefix {
	if pathHash == "" || strings.ContainsAny(pathHash, separator+"\x00") {
		return Prefix{}
	}
	return newPrefix(projectPK(projectID), "VERSION"+separator+pathHash+separator)
}

// AllVersionsOf selects the replaced versions of all files of a project.
func AllVersionsOf(projectID string) Prefix {
	return newPrefix(projectPK(projectID), "VERSION"+separator)
}

// UploadKey returns the key of an announced upload.
func UploadKey(projectID, uploadID string) Key {
	return newKey(projectPK(projectID), join("UPLOAD", idPart(id.Upload, uploadID)))
}

// UploadsOf selects the announced uploads of a project, in the order of their announcement.
func UploadsOf(projectID string) Prefix { return newPrefix(projectPK(projectID), "UPLOAD"+separator) }

// CommentKey returns the key of a comment.
func CommentKey(projectID, commentID string) Key {
	return newKey(projectPK(projectID), join("COMMENT", idPart(id.Comment, commentID)))
}

// CommentsOf selects the comments of a project, in the order of their creation.
func CommentsOf(projectID string) Prefix { return newPrefix(projectPK(projectID), "COMMENT"+separator) }

// AccountExportKey returns the key of an export of what is stored about a user.
func AccountExportKey(userID, exportID string) Key {
	return newKey(userPK(userID), join("EXPORT", idPart(id.Export, exportID)))
}

// AccountExportsOf selects the exports of what is stored about a user, in the order in which they were started.
func AccountExportsOf(userID string) Prefix { return newPrefix(userPK(userID), "EXPORT"+separator) }

// ExportKey returns the key of an export of a project's files.
func ExportKey(projectID, exportID string) Key {
	return newKey(projectPK(projectID), join("EXPORT", idPart(id.Export, exportID)))
}

// DeploymentKey returns the key of a deployment.
func DeploymentKey(projectID, deploymentID string) Key {
	return newKey(projectPK(projectID), join("DEPLOYMENT", idPart(id.Deployment, deploymentID)))
}

// DeploymentsOf selects the deployments of a project, in the order of their creation.
func DeploymentsOf(projectID string) Prefix {
	return newPrefix(projectPK(projectID), "DEPLOYMENT"+separator)
}

// JobKey returns the key of the job for an export or a deployment, by the ID of that record and of the project or the
// user that has the record.
func JobKey(ownerID, recordID string) Key {
	record := cmp.Or(idPart(id.Export, recordID), idPart(id.Deployment, recordID))
	return newKey(cmp.Or(projectPK(ownerID), userPK(ownerID)), join("JOB", record))
}

// IsJob reports whether k is the key of a job.
func (k Key) IsJob() bool { return strings.HasPrefix(k.SK, "JOB"+separator) }

// DeploymentLogKey returns the key of the log of a deployment.
func DeploymentLogKey(projectID, deploymentID string) Key {
	return newKey(projectPK(projectID), join("DEPLOYMENTLOG", idPart(id.Deployment, deploymentID)))
}

// BuildsKey returns the key of the item with the builds in progress of an account, by the ID of its user.
func BuildsKey(userID string) Key { return newKey(userPK(userID), "BUILDS") }

// OutputKey returns the key of the item that counts the stored output of an account, by the ID of its user.
func OutputKey(userID string) Key { return newKey(userPK(userID), "OUTPUT") }

// SiteKey returns the key of the site of a project.
func SiteKey(projectID string) Key { return newKey(projectPK(projectID), "SITE") }

// AddressKey returns the key of an address of sites, by its label: the first part of the host name.
func AddressKey(label string) Key { return newKey(join("ADDRESS", label), "ADDRESS") }

// TrafficKey returns the key of the item that counts the bytes that the sites of an account served in a month, such as
// "2026-11".
func TrafficKey(accountID, month string) Key {
	return newKey(join("ACCOUNT", accountID), join("TRAFFIC", month))
}

// TrafficOf selects the counts of all months of an account.
func TrafficOf(accountID string) Prefix {
	return newPrefix(join("ACCOUNT", accountID), "TRAFFIC"+separator)
}

// ChunkKey returns the key of the n-th chunk of a file's content, counted from 0.
func ChunkKey(projectID, contentID string, n int) Key {
	if contentID == "" || strings.ContainsAny(contentID, separator+"\x00") || n < 0 {
		return Key{}
	}
	return newKey(projectPK(projectID), contentID+separator+strconv.Itoa(n))
}

// SweepKey returns the key of the item with the position of the sweep that removes objects without a record.
func SweepKey() Key { return newKey("SWEEP", "SWEEP") }

// ProjectEventKey returns the key of an event of a project.
func ProjectEventKey(projectID, eventID string) Key {
	return newKey(projectPK(projectID), idPart(id.Event, eventID))
}

// WorkspaceEventKey returns the key of a workspace's event that belongs to no project.
func WorkspaceEventKey(workspaceID, eventID string) Key {
	return newKey(workspacePK(workspaceID), idPart(id.Event, eventID))
}

// EventsOf selects the events of a project, in the order of their creation.
func EventsOf(projectID string) Prefix { return newPrefix(projectPK(projectID), string(id.Event)+"_") }

// WebhookKey returns the key of a webhook.
func WebhookKey(workspaceID, webhookID string) Key {
	return newKey(workspacePK(workspaceID), join("WEBHOOK", idPart(id.Webhook, webhookID)))
}

// WebhooksOf selects the webhooks of a workspace, in the order of their creation.
func WebhooksOf(workspaceID string) Prefix {
	return newPrefix(workspacePK(workspaceID), "WEBHOOK"+separator)
}

// WebhookCountKey returns the key of the item that counts the webhooks of a workspace.
func WebhookCountKey(workspaceID string) Key { return newKey(workspacePK(workspaceID), "WEBHOOKS") }

// WebhookAccountKey returns the key of the item that changes with each new webhook of an account, by the ID of its
// user.
func WebhookAccountKey(userID string) Key { return newKey(userPK(userID), "WEBHOOKS") }

// WebhookWorkspaceKey returns the key of the item that maps a webhook's ID to the webhook's workspace.
func WebhookWorkspaceKey(webhookID string) Key { return newKey(webhookPK(webhookID), "WEBHOOK") }

// WebhookPartition selects all items that are stored under the ID of a webhook.
func WebhookPartition(webhookID string) Prefix { return Prefix{PK: webhookPK(webhookID)} }

// DeliveryKey returns the key of a delivery.
func DeliveryKey(webhookID, deliveryID string) Key {
	return newKey(webhookPK(webhookID), join("DELIVERY", idPart(id.Delivery, deliveryID)))
}

// DeliveriesOf selects the deliveries of a webhook, in the order of their events' times.
func DeliveriesOf(webhookID string) Prefix {
	return newPrefix(webhookPK(webhookID), "DELIVERY"+separator)
}

// SummaryKey returns the key of the item that describes a conversation. It sorts after the messages, so that one
// descending Query of the partition reads it and the latest messages.
func SummaryKey(projectID string) Key { return newKey(projectPK(projectID), "SUMMARY") }

// MessageKey returns the key of the n-th part of a message, from 0 to 9.
func MessageKey(projectID, messageID string, n int) Key {
	if n < 0 || n > 9 {
		return Key{}
	}
	return newKey(projectPK(projectID), join("MSG", idPart(id.Message, messageID), strconv.Itoa(n)))
}

// MessagesOf selects the messages of a project's conversation, in the order of their creation.
func MessagesOf(projectID string) Prefix { return newPrefix(projectPK(projectID), "MSG"+separator) }

// UsageKey returns the key of a user's usage of the assistant in a month, such as 2026-11.
func UsageKey(userID, month string) Key { return newKey(userPK(userID), join("USAGE", month)) }

// UsageOf selects a user's usage of the assistant in all months.
func UsageOf(userID string) Prefix { return newPrefix(userPK(userID), "USAGE"+separator) }

// GlobalUsageKey returns the key of one shard of all users' usage of the assistant in a month, such as 2026-11. Each
// shard is in a partition of its own.
func GlobalUsageKey(month string, shard int) Key {
	return newKey(join("USERS", strconv.Itoa(shard)), join("USAGE", month))
}

// GenerationKey returns the key of the record of an answer that is generated for a user. messageID is the ID of the
// answer.
func GenerationKey(userID, messageID string) Key {
	return newKey(userPK(userID), join("GENERATION", idPart(id.Message, messageID)))
}

// GenerationsOf selects the records of the answers that are being generated for a user, or were recently generated.
func GenerationsOf(userID string) Prefix { return newPrefix(userPK(userID), "GENERATION"+separator) }

// DueShards is the number of partitions of the webhooks table's index "due" whose items the retry job handles. More
// than one partition spreads the load.
const DueShards = 64

// DuePartition returns the partition key of a shard of the index "due". Shards count from 0.
func DuePartition(shard int) string { return "DUE" + separator + strconv.Itoa(shard) }

// SlowPartition returns the partition key, in the index "due", of the deliveries of a webhook that wait in the slow
// lane.
func SlowPartition(webhookID string) string { return join("SLOW", idPart(id.Webhook, webhookID)) }

// SlotsKey returns the key of the item that contains the slots of an account in the slow lane. An account is a user, or
// a workspace whose account is not known.
func SlotsKey(account string) Key { return newKey(join("ACCOUNT", account), "SLOTS") }

// MailKey returns the key of a mail.
func MailKey(mailID string) Key { return newKey(join("MAIL", idPart(id.Mail, mailID)), "MAIL") }

// MailStateKey returns the key of the item that records whether mail arrives at an address. Case is ignored.
func MailStateKey(address string) Key { return newKey(emailPK(address), "MAIL") }

func userPK(userID string) string { return join("USER", idPart(id.User, userID)) }

func webhookPK(webhookID string) string { return join("WEBHOOK", idPart(id.Webhook, webhookID)) }

func workspacePK(workspaceID string) string { return join("WS", idPart(id.Workspace, workspaceID)) }

func projectPK(projectID string) string { return join("PROJECT", idPart(id.Project, projectID)) }

func emailPK(email string) string { return join("EMAIL", strings.ToLower(email)) }

// idPart returns s if it is an ID of kind k, and otherwise the empty string, which is not valid in a key.
func idPart(k id.Kind, s string) string {
	if !k.Valid(s) {
		return ""
	}
	return s
}

// join joins kind and parts. It returns "" if a part is empty or contains a NUL, or if a part other than the last one
// contains a separator.
func join(kind string, parts ...string) string {
	for i, part := range parts {
		isLast := i == len(parts)-1
		if part == "" || strings.ContainsRune(part, 0) || (!isLast && strings.Contains(part, separator)) {
			return ""
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return kind + separator + strings.Join(parts, separator)
}

// DynamoDB's size limits for partition keys and sort keys, in bytes.
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

func (k Key) item() Item { return Item{AttrPK: text(k.PK), AttrSK: text(k.SK)} }

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// KeyOf returns the key of an item, the zero Key if the item has none.
func KeyOf(item Item) Key {
	pk, _ := item[AttrPK].(*types.AttributeValueMemberS)
	sk, _ := item[AttrSK].(*types.AttributeValueMemberS)
	if pk == nil || sk == nil {
		return Key{}
	}
	return Key{PK: pk.Value, SK: sk.Value}
}

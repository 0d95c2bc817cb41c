package db

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/shared/id"
)

// separator separates the parts of a key. Only the last part may contain it.
const separator = "#"

// Key is the primary key of an item. Only the functions in the files key*.go build keys, from validated parts, so that
// no ID, address or path can forge the key of another item. An invalid part results in the zero Key: reads with it find
// no item, and writes with it fail with ErrInvalidKey.
type Key struct{ PK, SK string }

// Prefix selects the items of a partition whose sort keys begin with SK, or all of them if SK is empty. An invalid part
// results in the zero Prefix, which selects no items.
type Prefix struct{ PK, SK string }

// After returns the value of Query.After for the page that begins after an item. suffix is the part of the item's sort
// key after the prefix (see Rest). If suffix is empty, After returns the zero Key, which means the first page.
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

// idKey returns the key of an item of a partition by its kind and its ID.
func idKey(pk, kind string, k id.Kind, s string) Key { return newKey(pk, join(kind, idPart(k, s))) }

// kindPrefix selects the items of a kind in a partition.
func kindPrefix(pk, kind string) Prefix { return newPrefix(pk, kind+separator) }

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

// Package audit stores what operators do: who, what, to whom, why and when. The write of a record belongs in the
// transaction of the act, so that there is no act without its record.
//
// The role of operators may only put items into the table, below a partition key that contains the identity of the
// caller. So it cannot delete a record, and cannot change the record of another operator. IAM cannot require a
// condition, so an operator could replace a record of their own. The sort key contains a hash of the record, with which
// Log.List recognizes this.
package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/shared/account/activity"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

// Retention is the time for which a record is stored: the same as for entries of activities.
const Retention = activity.Retention

// Operator is the identity of the person who runs the command.
type Operator struct {
	ID   string // unique: the user ID of AWS, which is the variable aws:userid of policies
	Name string // the ARN, or the name of the user of this machine
}

// Record is an act of an operator. The attribute names are part of the data format.
type Record struct {
	ID       string          `dynamodbav:"id" json:"id"`
	At       clock.Timestamp `dynamodbav:"at" json:"at"`
	Operator string          `dynamodbav:"operator" json:"operator"` // Operator.Name
	Act      string          `dynamodbav:"act" json:"act"`
	// Target is the ID of the user, and Username the name of the user at that time.
	Target   string `dynamodbav:"target" json:"target"`
	Username string `dynamodbav:"username" json:"username"`
	// Object is the ID of the project, or the label of the site, that the act is about.
	Object    string `dynamodbav:"object,omitempty" json:"object,omitempty"`
	Reason    string `dynamodbav:"reason" json:"reason"`
	ExpiresAt int64  `dynamodbav:"expiresAt" json:"expiresAt"` // in seconds since 1970

	// IsChanged reports that the record was changed after the act.
	IsChanged bool `dynamodbav:"-" json:"-"`
}

// Log stores records.
type Log struct {
	Table    db.Table
	Name     string // of the table
	SDK      *dynamodb.Client
	Operator Operator
	IDs      *id.Generator
	Clock    clock.Clock
}

// Write returns the write of a record. It sets the record's ID, time and operator.
func (l Log) Write(r Record) db.Write {
	now := l.Clock()
	r.ID, r.At, r.Operator, r.ExpiresAt = l.IDs.New("aud"), clock.Stamp(now), l.Operator.Name, now.Add(Retention).Unix()
	return l.Table.Create(db.Key{PK: partition(l.Operator.ID), SK: sortKey(r)}, r)
}

func partition(operatorID string) string { return "OPERATOR#" + operatorID }

// sortKey returns the sort key of a record: its ID, and a hash of the record.
func sortKey(r Record) string {
	text, _ := json.Marshal(r) // it consists of texts and numbers
	sum := sha256.Sum256(text)
	return r.ID + "#" + hex.EncodeToString(sum[:])
}

// List returns the acts that were about a user, newest first.
func (l Log) List(ctx context.Context, userID string) ([]Record, error) {
	var all []Record
	pages := dynamodb.NewQueryPaginator(l.SDK, &dynamodb.QueryInput{
		TableName: &l.Name, IndexName: aws.String("target"), KeyConditionExpression: aws.String("target = :target"),
		ExpressionAttributeValues: db.Item{":target": &types.AttributeValueMemberS{Value: userID}},
		ScanIndexForward:          aws.Bool(false),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", l.Name, err)
		}
		for _, item := range page.Items {
			r, err := db.Decode[Record](item)
			if err != nil {
				r = Record{Act: "a record that cannot be read", IsChanged: true}
			}
			key := db.KeyOf(item)
			r.IsChanged = r.IsChanged || sortKey(r) != key.SK || !strings.HasPrefix(key.PK, partition(""))
			if r.ExpiresAt > l.Clock().Unix() || r.IsChanged {
				all = append(all, r)
			}
		}
	}
	return all, nil
}

// Package secrets is AWS Secrets Manager on the wire, for a laptop: the JSON 1.1 protocol over a store in one file.
//
// What belongs here: secrets, their versions and staging labels, the generator of random values, with AWS's error types
// and messages. A value that was acknowledged survives a kill; the file is readable by its owner only.
// What a laptop has no use for (rotation, replication, resource policies, encryption keys) is a named error.
//
// What may not enter: which secrets exist and why (see stack and provision).
package secrets

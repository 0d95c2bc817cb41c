// Command project-export is the Lambda function that receives messages from ExportsQueue and writes zip archives of the
// files of projects.
package main

import "devplatform/shared/lambdafn"

func main() { lambdafn.Start(newHandler) }

package goldpinger

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/vicinity-scheduler/vicinity/pkg/delay"
)

// belowMillisecond is what a time that is left out stands for.
const belowMillisecond = 999 * time.Microsecond

// peer says who somebody is, as far as an answer tells.
type peer struct {
	key    string // a pod's name or a node's
	hostIP string
}

// ping is one ping from one node to another.
type ping struct {
	from, to peer
	at       time.Time // zero if it was not told
	rtt      time.Duration
	answered bool
}

// The answers, as far as they are read. Everything may be missing.
type (
	checkAll struct {
		Hosts []struct {
			PodName string `json:"podName"`
			HostIP  string `json:"hostIP"`
		} `json:"hosts"`
		Responses map[string]json.RawMessage `json:"responses"`
	}
	podResponse struct {
		OK       bool            `json:"OK"`
		HostIP   string          `json:"HostIP"`
		Response json.RawMessage `json:"response"`
	}
	check struct {
		PodResults map[string]json.RawMessage `json:"podResults"`
	}
	podResult struct {
		OK           bool      `json:"OK"`
		HostIP       string    `json:"HostIP"`
		PingTime     time.Time `json:"PingTime"`
		ResponseTime *float64  `json:"response-time-ms"`
	}
)

// parseCheckAll reads an answer of /check_all. The error tells that it is not one; faults are those of single pods, whose
// results are left out.
func parseCheckAll(body []byte) (pings []ping, faults []error, err error) {
	var all checkAll
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, nil, fmt.Errorf("/check_all: %w", err)
	}
	if all.Responses == nil {
		return nil, nil, errors.New("/check_all: expected an object with responses, found none")
	}
	hosts := make(map[string]string, len(all.Hosts))
	for _, host := range all.Hosts {
		hosts[host.PodName] = host.HostIP
	}
	for _, key := range slices.Sorted(maps.Keys(all.Responses)) {
		var pod podResponse
		if err := json.Unmarshal(all.Responses[key], &pod); err != nil {
			faults = append(faults, fmt.Errorf("responses[%q]: %w", key, err))
			continue
		}
		if !pod.OK || len(pod.Response) == 0 {
			continue // it did not answer the pod that asked, which says nothing about the nodes
		}
		if pod.HostIP == "" {
			pod.HostIP = hosts[key]
		}
		found, more, err := parseCheck(pod.Response, peer{key: key, hostIP: pod.HostIP})
		if err != nil {
			more = append(more, fmt.Errorf("responses[%q]: %w", key, err))
		}
		pings, faults = append(pings, found...), append(faults, more...)
	}
	return pings, faults, nil
}

// parseCheck reads an answer of /check from one pod.
func parseCheck(body []byte, from peer) (pings []ping, faults []error, err error) {
	var answer check
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, nil, fmt.Errorf("/check: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(answer.PodResults)) {
		var result podResult
		if err := json.Unmarshal(answer.PodResults[key], &result); err != nil {
			faults = append(faults, fmt.Errorf("podResults[%q]: %w", key, err))
			continue
		}
		p := ping{from: from, to: peer{key: key, hostIP: result.HostIP}, at: result.PingTime, answered: result.OK}
		if result.OK {
			p.rtt = belowMillisecond
			if result.ResponseTime != nil && *result.ResponseTime != 0 {
				p.rtt = time.Duration(*result.ResponseTime * float64(time.Millisecond))
			}
			if t := result.ResponseTime; t != nil && (*t < 0 || *t > float64(delay.MaxDelay.Milliseconds())) {
				faults = append(faults, fmt.Errorf("podResults[%q]: %w: response-time-ms %v", key, errImpossible, *t))
				continue
			}
		}
		pings = append(pings, p)
	}
	return pings, faults, nil
}

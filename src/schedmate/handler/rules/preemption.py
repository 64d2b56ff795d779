"""Runs whose machine or allocation was taken away for others: by schedulers, by orchestrators and
by clouds.

Each tells it in its own words, but of few kinds: something was preempted, reclaimed or evicted
for the sake of another; a notice says that the machine will go; or a code says why it went.
"""

from schedmate.handler.rules.base import LazyPattern, Rule, Weight

_TAKEN = r"(?:pre-?empted|reclaimed|PREEMPTED)"
_THING = (
    r"\b(?:[Ii]nstances?|VMs?|[Nn]odes?|[Cc]lusters?|TPUs?|[Ww]orkers?|[Jj]obs?|[Mm]achines?|[Pp]ods?"
    r"|[Ww]orkloads?|[Tt]asks?|[Aa]llocations?|[Rr]uns?|[Ee]xperiments?|[Tt]rials?|[Cc]ontainers?"
    r"|[Rr]eplicas?|[Hh]osts?|[Rr]esources?|[Ss]teps?|[Ss]lices?|[Cc]apacity|[Cc]omputes?)\b"
)
_BECAME = r"(?:is|was|were|got|has been|have been|had been|is being|being|been|state:?)"
_TALK = LazyPattern(
    r"\bif\b|\bwhen(?:ever)?\b|\bin case\b|\bunless\b|[Ll]isten(?:ing|er)|enabled|polling"
    r"|handler (?:installed|registered|is|for)|[Rr]esum(?:ed|ing)|[Pp]revious|recovered from"
    r"|or crashed|preempted/|[Ee]ither |KV cache|PreemptionMode|[Rr]equests?\b|[Ss]equence"
    r"|\b(?:can|may|might|could) be\b"
    r"|not (?:been )?(?:pre-?empted|reclaimed)|[Cc]hecking for|: (?:none|0|False|false|no)\b"
    r"|\b(?:0|no|No) (?:\w{1,20} ){0,2}pre-?empt|\b(?:tolerat|simulat|cheaper)"
)

RULES = (
    Rule(
        name="cloud-instance",
        reason="preempted",
        pattern=LazyPattern(
            rf"{_THING}.{{0,60}}\b{_BECAME} (?:\w{{1,12}} )?{_TAKEN}\b"
            r"|\bpreempted JobId=|to reclaim resources for JobId="
            r"|\b[Pp]reempt(?:ed|ing) (?:by (?:\S{1,120} on node|rule|(?:a |another )?(?:higher|job"
            r"|pod|workload))|to accommodate|in order to|for (?:a )?higher|due to)"
            r"|[Pp]reempt\w{0,4} by (?:a |the )?(?:higher|scheduler|owner|cloud|provider|EC2|GCP)"
            r"|PreemptionByScheduler|EvictedDueTo(?:Preempt|Reclaim)\w{0,12}|PreemptionScheduled\b"
            r"|SpotEvictionIncoming|SpotInterrupt\w{1,6}\b|spot_interrupted|SpotInstanceTermination"
            r"|SpotInstanceShutdown|BidEvictedEvent|INTERRUPTED_BY_NO_CAPACITY"
            r"|instance-terminated-(?:by-price|no-capacity|capacity|launch-group)"
            r"|AUTOSCALER_DRAIN_PREEMPTED|JobNodePreempted|NodePreempted\b"
            r"|compute\.instances\.preempted|\"?EventType\"?: ?\"?Preempt\b|Preempt Scheduled: "
            r"|instance.action[\"']?[:=] ?.{0,20}\b(?:terminate|stop|hibernate)\b"
            r"|evicted,? (?:because of|due to|for) .{0,20}(?:preempt|reclaim|higher|spot)"
            r"|due to (?:a )?(?:[Ss]pot (?:VM |instance )?)?[Pp]reemption\b"
            r"|[Ss]cheduled ?[Ee]vents?\b.{0,40}\bPreempt\b|\b(?:instance|VM|node) preempted by\b"
            r"|\bdrained: .{0,40}(?:spot|preempt)"
            r"|[Ee]xit(?:ing|ed)? .{0,30}after (?:a )?preemption\b"
        ),
        unless=_TALK,
        confidence=0.93,
        weight=Weight.DECISIVE,
        positives=(
            "2026-01-01 INFO TPU worker 3 was preempted",
            "I 05-04 00:52:46 controller.py:100] The cluster is preempted.",
            "Cluster is preempted or failed (status: STOPPED). Recovering...",
            (
                "[2025-11-02T03:20:10.882] preempted JobId=98771 has been requeued to reclaim "
                "resources"
            ),
            "  Warning  Preempted  2m  default-scheduler  Preempted by team/pod-a on node gpu-7",
            (
                "  Normal  Preempted  3s  kueue  Preempted to accommodate a workload (UID: 3f1) "
                "due "
                "to prioritization in the ClusterQueue"
            ),
            "ERROR: instance n1 was preempted by Compute Engine",
            "Received ACPI shutdown signal: instance preempted by Compute Engine",
            "Azure scheduled event: Preempt, NotBefore 30s",
            "node is being drained: spot reclaim",
            (
                "message: 'Node condition PreemptionScheduled is now: True, reason: "
                'SpotEvictionIncoming, message: "Preempt Scheduled: Sat, 01 Aug 2026"\''
            ),
            '{"controller":"interruption","messageKind":"spot_interrupted","action":"CordonAndDrain"}',
            "  Warning  Evict  10s  vc-scheduler  Pod is evicted, because of preempt",
            (
                "Task state is updated from RUNNING to FAILED due to Spot VM preemption, exit "
                "code 50001"
            ),
            "Workload train-7b was preempted by a higher priority workload",
            "Server.SpotInstanceTermination: Spot instance termination",
        ),
        negatives=(
            "preemption handler installed, polling the metadata server",
            "will save a checkpoint when the instance is being preempted",
            "Sequence group 3 is preempted by PreemptionMode.RECOMPUTE mode",
            "preempted requests: 0, running 12",
            (
                "This indicates that the remote task has failed, got preempted, or crashed "
                "unexpectedly."
            ),
            "job can be preempted: yes",
            "Failed to send RPC. Either the leader task was preempted/died/restarted unexpectedly",
            "jobs preempted so far: 0",
            "Jobs in this partition will be preempted by those of its owners",
            "the previous run was preempted, resuming at step 4000",
        ),
    ),
    Rule(
        # a notice: the machine will be gone in seconds or minutes
        name="spot-notice",
        reason="preempted",
        pattern=LazyPattern(
            r"\b[Ss]pot (?:[Ii]nstances?|VMs?|[Nn]odes?)?.{0,60}(?:[Ii]nterruption [Nn]otice"
            r"|[Ii]nterruption [Ww]arning|[Ee]viction|[Tt]ermination [Nn]otice"
            r"|will be (?:terminated"
            r"|stopped|reclaimed|evicted|interrupted|hibernated)|(?:was|been|being"
            r"|is) (?:interrupted"
            r"|reclaimed|terminated|evicted))|\bSpotITN\b|[Ss]pot (?:ITN|itn)\b"
            r"|[Rr]eceived .{0,30}(?:spot|preemption|interruption) (?:termination |interruption )?"
            r"(?:notice|signal|warning|event)|(?:spot|[Pp]reemption|[Ii]nterruption|[Ee]viction) "
            r"(?:notice|signal|warning|event) (?:was |has been )?(?:received|detected|caught)"
            r"|[Dd]etected (?:a )?(?:spot |node )?(?:preemption|interruption|eviction)\b"
            r"|\b(?:[Nn]ode|[Ii]nstance|VM|[Mm]achine) (?:preemption|eviction|reclaim) in \d"
            r"|[Tt]ermination is imminent|imminent (?:node |instance |VM )?(?:shutdown|termination"
            r"|preemption|eviction)|[Hh]ost EC2 \(instance \S{1,40}\) terminated"
            r"|[Hh]ost maintenance event|[Tt]erminated (?:by|due to|because of) .{0,30}maintenance"
            r"|\b[Ss]pot (?:interruption|termination|preemption"
            r"|eviction) (?:\w{1,12} ){0,2}(?:received"
            r"|detected|scheduled|triggered)"
            r"|\b(?:[Ii]nstance|VM|[Mm]achine|[Nn]ode) (?:is going to|is about to"
            r"|will) be (?:interrupted"
            r"|terminated|preempted|reclaimed|evicted|deallocated)\b"
        ),
        unless=_TALK,
        confidence=0.9,
        weight=Weight.DECISIVE,
        positives=(
            "Spot instance interruption notice: the instance will be terminated at 08:22:00Z",
            "EC2 Spot Instance Interruption Warning received for i-0abc, action: terminate",
            "  Warning  SpotITN  5s  handler  Spot Interruption Notice received for i-0ab",
            "2024/12/17 16:03:58 GCP Metadata Service says termination is imminent",
            "Message: Pod was terminated in response to imminent node shutdown.",
            "Host EC2 (instance i-0f3a9c) terminated.",
            "Detected preemption, saving and leaving",
            "The replica workerpool1-0 was terminated due to a maintenance event on the host",
            'Spot interruption payload received: {"action":"terminate","time":"2025-03-31T16:34Z"}',
            "Instance is going to be interrupted in 2 minutes. Exiting...",
        ),
        negatives=(
            "spot instances are cheaper",
            "Checking for spot interruption notice: none",
            "Listening for spot interruption notices",
        ),
    ),
    Rule(
        name="batch-system",
        reason="preempted",
        pattern=LazyPattern(
            r"\bTERM_(?:PREEMPT|LOAD|REQUEUE_(?:OWNER|ADMIN)|BUCKET_KILL|MC_RECALL)\b"
            r"|\b[Jj]ob (?:\S{1,40} )?was evicted\b"
        ),
        confidence=0.93,
        weight=Weight.DECISIVE,
        positives=(
            "TERM_PREEMPT: job killed after preemption.",
            "TERM_LOAD: job killed after load exceeds threshold.",
            "004 (812.000.000) 01/01 00:00:00 Job was evicted.",
        ),
        negatives=("evicted jobs: 0", "PREEMPT = False"),
    ),
)

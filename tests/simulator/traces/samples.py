"""Three rows of each format, with what they are: one job, one without GPUs, one that is wrong."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from schedmate.model import JobState

CPU_ONLY = {"ask for no GPU": 1}


@dataclass(frozen=True, slots=True)
class Sample:
    """`bad` is the line of the wrong row and a piece of what is said of it."""

    text: str
    job: dict[str, Any]
    bad: tuple[int, str]
    left_out: dict[str, int] = field(default_factory=lambda: CPU_ONLY)


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def _philly_job(jobid: str, *attempts: tuple[str, str, int], **changed: Any) -> dict[str, Any]:
    return {
        "status": "Pass",
        "vc": "ee9e8c",
        "jobid": jobid,
        "attempts": [
            {
                "start_time": start,
                "end_time": end,
                "detail": [{"ip": "m1", "gpus": [f"gpu{number}" for number in range(gpus)]}],
            }
            for start, end, gpus in attempts
        ],
        "submitted_time": "2017-10-07 01:11:39",
        "user": "ce2f4c",
        **changed,
    }


_PHILLY = [
    _philly_job(
        "a1",
        ("2017-10-07 01:12:00", "2017-10-07 01:13:00", 8),
        ("2017-10-07 01:20:00", "2017-10-07 01:25:00", 8),
    ),
    _philly_job("a2", ("2017-10-07 01:12:00", "2017-10-07 01:13:00", 0)),
    _philly_job("a3", ("2017-10-07 01:12:00", "2017-10-07 01:13:00", 1), status="Maybe"),
]

SAMPLES: dict[str, Sample] = {
    "plain CSV": Sample(
        _lines(
            "job_id,user,submit_time,duration,gpus",
            "7,ada,12,60,4",
            "8,ada,12,60,0",
            "9,ada,12,long,1",
        ),
        {"job_id": "7", "user": "ada", "submit_time": 12, "duration": 60, "gpus": 4},
        (4, "duration is 'long'"),
    ),
    "Helios": Sample(
        _lines(
            "job_id,user,vc,jobname,gpu_num,cpu_num,node_num,state,submit_time,start_time,"
            "end_time,duration,queue",
            "11,uX,vcJ,train,16,64,2,FAILED,2020-06-09 18:41:01,2020-06-09 18:41:11,"
            "2020-06-09 18:45:11,240,10",
            "12,uX,vcJ,prep,0,64,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:11,"
            "2020-06-09 18:45:11,240,10",
            "13,uX,vcJ,train,1,4,1,ODD,2020-06-09 18:41:01,2020-06-09 18:41:11,"
            "2020-06-09 18:45:11,240,10",
        ),
        {
            "job_id": "11",
            "user": "uX",
            "group": "vcJ",
            "name": "train",
            "gpus": 16,
            "nodes": 2,
            "status": JobState.FAILED,
            "submit_time": 1591728061,
            "start_time": 1591728071,
            "duration": 240,
        },
        (4, "state is 'ODD'"),
    ),
    "Acme": Sample(
        _lines(
            "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,"
            "duration,queue,gpu_time",
            "d1,uf,8,64,960,Pretrain,CANCELLED,2023-05-17 11:28:42+00:00,"
            "2023-05-17 11:28:54+00:00,2023-05-17 11:30:04+00:00,82,12.0,5248.0",
            "d2,uf,1,0,4,Other,COMPLETED,2023-05-17 11:28:42+00:00,2023-05-17 11:28:54+00:00,"
            "2023-05-17 11:30:04+00:00,82,12.0,0.0",
            "d3,uf,1,1.5,4,Other,COMPLETED,2023-05-17 11:28:42+00:00,2023-05-17 11:28:54+00:00,"
            "2023-05-17 11:30:04+00:00,82,12.0,0.0",
        ),
        {
            "job_id": "d1",
            "user": "uf",
            "name": "Pretrain",
            "gpus": 64,
            "nodes": 8,
            "status": JobState.CANCELLED,
            "submit_time": 1684322922,
            "start_time": 1684322934,
            "duration": 70,
        },
        (4, "gpu_num is '1.5'"),
    ),
    "Philly CSV": Sample(
        _lines(
            "timestamp,duration,num_gpus,gpu_time,cluster",
            "2017-10-09 07:01:55,66.0,2,132.0,11cb48",
            "2017-10-09 07:01:55,66.0,0,0.0,11cb48",
            "yesterday,66.0,1,66.0,11cb48",
        ),
        {
            "job_id": "1",
            "user": "",
            "submit_time": 1507532515,
            "duration": 66,
            "gpus": 2,
            "group": "11cb48",
        },
        (4, "timestamp is 'yesterday'"),
    ),
    "Philly JSON": Sample(
        json.dumps(_PHILLY, indent=1),
        {
            "job_id": "a1",
            "user": "ce2f4c",
            "group": "ee9e8c",
            "submit_time": 1507338699,
            "start_time": 1507338720,
            "duration": 360,
            "gpus": 8,
        },
        (68, "status is 'Maybe'"),
    ),
    "Microsoft ITP": Sample(
        _lines(
            "job_id,submission_time,duration,num_gpu",
            "6b2d,16566,3890,4",
            "6b2e,16566,3890,0",
            "6b2f,16566,-1,4",
        ),
        {"job_id": "6b2d", "user": "", "submit_time": 16566, "duration": 3890, "gpus": 4},
        (4, "the duration is -1"),
    ),
    "DIR-LAB cut": Sample(
        _lines(
            "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status",
            "0,1,0,4,1,100,84,0,Pass",
            "1,1,8,4,2,94,87,0,Killed",
            "2,1,8,4,2,94,87,0,Gone",
        ),
        {
            "job_id": "1",
            "user": "1",
            "submit_time": 194,
            "duration": 87,
            "gpus": 8,
            "nodes": 2,
            "status": JobState.CANCELLED,
        },
        (4, "new_status is 'Gone'"),
    ),
    "ALCF ThetaGPU": Sample(
        _lines(
            "job,user,project,state,gpu_num,cpu_num,node_num,submit_time,wait_time,run_time,"
            "wall_time,node_hour,new_status",
            "101,0,33,0,2.0,0,1.0,1000.0,5.0,2305.5,3600.0,0.64,Pass",
            "102,0,33,0,0.0,0,1.0,1000.0,5.0,2305.5,3600.0,0.64,Pass",
            "103,0,33,0,1.0,0,1.0,1000.0,,2305.5,3600.0,0.64,Pass",
        ),
        {
            "job_id": "101",
            "user": "",
            "group": "33",
            "submit_time": 1000,
            "start_time": 1005,
            "duration": 2305.5,
            "gpus": 2,
            "time_limit": 3600,
        },
        (4, "wait_time is empty"),
    ),
    "Alibaba openb": Sample(
        _lines(
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
            "deletion_time,scheduled_time",
            "pod-1,6000,12288,1,460,V100M16,LS,Running,400,1000,427.0",
            "pod-2,6000,12288,0,0,,LS,Running,400,1000,427.0",
            "pod-3,6000,12288,1,460,,LS,Lost,400,1000,427.0",
        ),
        {
            "job_id": "pod-1",
            "user": "",
            "submit_time": 400,
            "start_time": 427,
            "duration": 573,
            "gpus": 1,
            "gpu_type": "V100M16",
            "status": JobState.CANCELLED,
        },
        (4, "pod_phase is 'Lost'"),
    ),
    "Alibaba PAI": Sample(
        _lines(
            "4f05,ps,1.0,Terminated,90.0,205.0,600.0,29.3,,",
            "4f05,worker,3.0,Terminated,100.0,200.0,600.0,29.3,50.0,V100",
            "4f06,ps,1.0,Terminated,90.0,205.0,600.0,29.3,,",
            "4f07,worker,1.0,Vanished,100.0,200.0,600.0,29.3,100.0,V100",
        ),
        {
            "job_id": "4f05",
            "user": "",
            "submit_time": 100,
            "start_time": 100,
            "duration": 100,
            "gpus": 2,
            "gpu_type": "V100",
        },
        (4, "status is 'Vanished'"),
    ),
    "LSF table": Sample(
        _lines(
            "job_id,job_name,user,queue,n_hosts,gpus,walltime_req,submit,start,duration_s,status,"
            "term_reason",
            "55,gan,u7,gpuv100,1,1,1440.0,2021-07-03 21:00:29,2021-07-03 21:00:30,86400,EXITED,"
            "TERM_RUNLIMIT",
            "56,cpu,u7,hpc,1,0,1440.0,2021-07-03 21:00:29,2021-07-03 21:00:30,10,COMPLETED,",
            "57,gan,u7,gpuv100,1,1,1440.0,2021-07-03 21:00:29,2021-07-03 21:00:30,10,ZOMBIE,",
        ),
        {
            "job_id": "55",
            "user": "u7",
            "name": "gan",
            "group": "gpuv100",
            "submit_time": 1625346029,
            "start_time": 1625346030,
            "duration": 86400,
            "gpus": 1,
            "time_limit": 86400,
            "status": JobState.TIMEOUT,
        },
        (4, "status is 'ZOMBIE'"),
    ),
    "sacct": Sample(
        _lines(
            "JobID|User|JobName|Partition|Submit|Start|End|Elapsed|AllocTRES|State|Timelimit|NNodes",
            "812|ada|train|gpu|2026-01-05T09:00:00|2026-01-05T09:00:30|2026-01-06T10:00:30|"
            "1-01:00:00|billing=8,cpu=64,gres/gpu:a100=8,gres/gpu=8,node=2|CANCELLED by 1000|"
            "2-00:00:00|2",
            "812.batch||batch||2026-01-05T09:00:30|2026-01-05T09:00:30|2026-01-06T10:00:30|"
            "1-01:00:00|cpu=64,gres/gpu:a100=8,gres/gpu=8,node=2|CANCELLED||2",
            "813|ada|prep|cpu|2026-01-05T09:00:00|2026-01-05T09:00:30|2026-01-05T09:10:30|"
            "00:10:00|billing=8,cpu=64,node=1|COMPLETED|UNLIMITED|1",
            "814|ada|train|gpu|2026-01-05T09:00:00|2026-01-05T09:00:30|2026-01-05T09:10:30|"
            "ten|gres/gpu=1|COMPLETED|UNLIMITED|1",
        ),
        {
            "job_id": "812",
            "user": "ada",
            "name": "train",
            "group": "gpu",
            "submit_time": 1767603600,
            "start_time": 1767603630,
            "duration": 90000,
            "gpus": 8,
            "gpu_type": "a100",
            "nodes": 2,
            "time_limit": 172800,
            "status": JobState.CANCELLED,
        },
        (5, "elapsed is 'ten'"),
    ),
    "SWF": Sample(
        _lines(
            "; MaxProcs: 64",
            "; comment",
            "  1  10  5  60  4  -1 -1  4 3600 -1 1  3 1 7 2 -1 -1 -1",
            "  2  10  5  60 -1  -1 -1 -1 3600 -1 1  3 1 7 2 -1 -1 -1",
            "  3  10  5  60  4  -1 -1  4 3600 -1 9  3 1 7 2 -1 -1 -1",
        ),
        {
            "job_id": "1",
            "user": "3",
            "name": "7",
            "group": "2",
            "submit_time": 10,
            "start_time": 15,
            "duration": 60,
            "gpus": 4,
            "time_limit": 3600,
        },
        (5, "status is '9'"),
    ),
}

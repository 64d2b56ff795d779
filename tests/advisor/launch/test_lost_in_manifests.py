"""Job files of Kubernetes, Ray and others, given as the script."""

import pytest

from advisor.launch.trees import Tree, assert_found

MANIFESTS = (
    Tree(
        "a Kubernetes job",
        """\
        === job.yaml
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: net
          labels:
            kueue.x-k8s.io/queue-name: team
        spec:
          parallelism: 1
          template:
            spec:
              initContainers:
                - name: fetch
                  image: busybox
                  command: ["wget", "http://data"]
              containers:
                - name: main
                  image: registry/net:1
                  workingDir: /workspace
                  command: ["python", "train.py"]
                  args: ["--epochs", "9"]
                  resources:
                    limits:
                      nvidia.com/gpu: 2
        """,
        "job.yaml",
        more=(("gpus", 2),),
    ),
    Tree(
        "a Kubernetes job with shell text and variables",
        """\
        === k8s/job.yaml
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data}
        ---
        apiVersion: batch/v1
        kind: Job
        spec:
          template:
            spec:
              containers:
                - name: main
                  image: registry/net:1
                  command: ["/bin/bash", "-c"]
                  args:
                    - |
                      set -e
                      git clone https://example.org/net && cd net
                      pip install -r requirements.txt
                      python train.py --epochs $EPOCHS
                  env:
                    - name: EPOCHS
                      value: "9"
        """,
        "k8s/job.yaml",
    ),
    Tree(
        "a PyTorchJob with workers",
        """\
        === job.yaml
        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        spec:
          nprocPerNode: "4"
          pytorchReplicaSpecs:
            Master:
              replicas: 1
              template:
                spec:
                  containers: &c
                    - name: pytorch
                      image: registry/net:1
                      command: [torchrun, --nproc_per_node=4, /scripts/train.py, --epochs, "9"]
                      resources: {limits: {nvidia.com/gpu: 4}}
            Worker:
              replicas: 3
              template:
                spec:
                  containers: *c
        """,
        "job.yaml",
        more=(("gpus", 16), ("nodes", 4)),
    ),
    Tree(
        "an MPIJob",
        """\
        === job.yaml
        apiVersion: kubeflow.org/v2beta1
        kind: MPIJob
        spec:
          slotsPerWorker: 2
          mpiReplicaSpecs:
            Launcher:
              replicas: 1
              template:
                spec:
                  containers:
                    - name: launcher
                      image: horovod
                      command:
                        - mpirun
                        - -np
                        - "4"
                        - --allow-run-as-root
                        - python
                        - /examples/train.py
                        - --epochs=9
            Worker:
              replicas: 2
              template:
                spec:
                  containers:
                    - name: worker
                      image: horovod
                      resources:
                        limits:
                          nvidia.com/gpu: 2
        """,
        "job.yaml",
        more=(("gpus", 4), ("nodes", 2)),
    ),
    Tree(
        "a RayJob",
        """\
        === ray.yaml
        apiVersion: ray.io/v1
        kind: RayJob
        metadata:
          name: net
        spec:
          entrypoint: python /home/ray/code/train.py --epochs 9
          runtimeEnvYAML: |
            env_vars:
              LR: "0.1"
          rayClusterSpec:
            headGroupSpec:
              template:
                spec:
                  containers:
                    - name: ray-head
                      image: rayproject/ray:2.9.0
            workerGroupSpecs:
              - replicas: 2
                groupName: gpu
                template:
                  spec:
                    containers:
                      - name: ray-worker
                        image: rayproject/ray:2.9.0
                        resources:
                          limits:
                            nvidia.com/gpu: 4
        """,
        "ray.yaml",
        more=(("gpus", 8),),
    ),
    Tree(
        "a job whose script is in a config map",
        """\
        === job.yaml
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: scripts
        data:
          run.sh: |
            #!/bin/bash
            python train.py --epochs 9
        ---
        apiVersion: batch/v1
        kind: Job
        spec:
          template:
            spec:
              containers:
                - name: main
                  image: registry/net:1
                  command: [bash, /scripts/run.sh]
                  volumeMounts:
                    - {name: scripts, mountPath: /scripts}
              volumes:
                - name: scripts
                  configMap: {name: scripts}
        """,
        "job.yaml",
    ),
    Tree(
        "a job that runs what its image says",
        """\
        === Dockerfile
        FROM python:3.11
        COPY . /app
        WORKDIR /app
        ENTRYPOINT ["python", "train.py"]
        === deploy/job.yaml
        apiVersion: batch/v1
        kind: Job
        spec:
          template:
            spec:
              containers:
                - name: main
                  image: registry/net:1
                  args: ["--epochs=9"]
        """,
        "deploy/job.yaml",
    ),
    Tree(
        "a manifest that a script applies",
        """\
        === job.yaml
        apiVersion: batch/v1
        kind: Job
        spec:
          template:
            spec:
              containers:
                - name: main
                  image: x
                  command: [python, train.py, --epochs, "9"]
        === submit.sh
        kubectl delete job net --ignore-not-found
        kubectl apply -f job.yaml -n ml
        """,
        "submit.sh",
    ),
    Tree(
        "a Volcano job",
        """\
        === job.yaml
        apiVersion: batch.volcano.sh/v1alpha1
        kind: Job
        spec:
          minAvailable: 2
          tasks:
            - replicas: 2
              name: worker
              template:
                spec:
                  containers:
                    - name: net
                      image: x
                      command: ["/bin/sh", "-c", "python /app/train.py --epochs 9"]
                      resources: {requests: {nvidia.com/gpu: "4"}}
        """,
        "job.yaml",
        more=(("gpus", 8), ("nodes", 2)),
    ),
    Tree(
        "a task of SkyPilot",
        """\
        === task.yaml
        resources:
          accelerators: A100:8
        num_nodes: 2
        workdir: .
        envs:
          EPOCHS: 9
        setup: |
          pip install -r requirements.txt
        run: |
          torchrun --nnodes=$SKYPILOT_NUM_NODES --nproc_per_node=8 train.py --epochs $EPOCHS
        """,
        "task.yaml",
        more=(("gpus", 16), ("nodes", 2)),
    ),
)


@pytest.mark.parametrize("tree", MANIFESTS, ids=lambda tree: tree.name)
def test_the_program_is_found(tree, tmp_path):
    assert_found(tree, tmp_path)
